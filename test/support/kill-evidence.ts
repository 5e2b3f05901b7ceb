import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJournalLine } from '../../cache/journal-line.ts';

/** A result row as it stands in a journal. */
export interface StoredAnswer {
  readonly key: string;
  /** Exact JSON text. */
  readonly json: string;
  readonly serial: number;
}

/** What a slot of the script said it got. */
export interface SlotAnswer {
  readonly slot: string;
  readonly prompt: string;
  readonly answer: string;
}

/** What the files of a run hold at one moment, read without the code that resumes. */
export interface Evidence {
  readonly stored: readonly StoredAnswer[];
  readonly got: readonly SlotAnswer[];
  readonly launches: number;
  /** Whether the last line of the journal is torn, as a crash may leave it. */
  readonly tornTail: boolean;
  /** Damaged lines that are not the last one, and events that are missing or out of order: what no crash may leave. */
  readonly faults: readonly string[];
}

export function serialOf(answer: string): number {
  return Number(/^"?#(\d+) /.exec(answer)?.[1] ?? -1);
}

export function readEvidence(runPath: string): Evidence {
  const faults: string[] = [];
  const stored: StoredAnswer[] = [];
  let launches = 0;
  const journal = linesOf(join(runPath, 'journal.jsonl'));
  for (const [index, line] of journal.whole.entries()) {
    const read = readJournalLine(line, 0, line.length);
    if (read.kind === 'damaged') faults.push(`journal line ${index + 1} is damaged`);
    if (read.kind !== 'row') continue;
    const { row, resultJson } = read.stored;
    if (row.type === 'launched') launches += 1;
    if (row.type === 'result' && resultJson !== undefined) {
      stored.push({ key: row.key, json: resultJson, serial: serialOf(resultJson) });
    }
  }
  const got: SlotAnswer[] = [];
  for (const [index, line] of linesOf(join(runPath, 'events.ndjson')).whole.entries()) {
    const event = parse(line) as { seq?: number; type?: string; data?: { text?: string } } | undefined;
    if (event?.seq !== index + 1) faults.push(`event line ${index + 1} has number ${event?.seq}`);
    const text = event?.type === 'log' ? event.data?.text : undefined;
    if (text?.startsWith('GOT ')) got.push(JSON.parse(text.slice(4)) as SlotAnswer);
  }
  return { stored, got, launches, tornTail: journal.torn, faults };
}

function linesOf(path: string): { readonly whole: readonly Buffer[]; readonly torn: boolean } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return { whole: [], torn: false };
  }
  const whole: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    whole.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { whole, torn: start < bytes.length };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}
