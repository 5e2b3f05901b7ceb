import { readFile } from 'node:fs/promises';
import { errnoOf } from './disk.ts';

/** One call as a journal of Claude Code recorded it. */
export interface ClaudeCall {
  /** Absent in journals of older versions. */
  readonly label?: string;
  /** JSON text of its answer; absent when it had none, or the answer was `null`. */
  readonly resultJson?: string;
}

/** The rows that count; other types and members are skipped. */
interface Row {
  readonly type: 'started' | 'result';
  readonly key: string;
  readonly agentId?: unknown;
  readonly label?: unknown;
  readonly result?: unknown;
}

/**
 * Reads the `journal.jsonl` of a run that Claude Code made: its calls in the order in which they started. Undefined when
 * there is no such file, or it is no journal of that kind (no `v2:` key in it).
 *
 * A call that started again, after a failure or on a resume, counts once, where it first stood.
 */
export async function readClaudeJournal(path: string): Promise<readonly ClaudeCall[] | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
  const rows = text.split('\n').flatMap(readRow);
  return rows.length === 0 ? undefined : callsOf(rows);
}

/** Lines that are torn, of another type or of another program give nothing. */
function readRow(line: string): Row[] {
  if (!line.includes('"v2:')) return [];
  try {
    const row = JSON.parse(line) as Partial<Row> | null;
    const isOurs = (row?.type === 'started' || row?.type === 'result') && String(row.key).startsWith('v2:');
    return isOurs ? [row as Row] : [];
  } catch {
    return [];
  }
}

function callsOf(rows: readonly Row[]): readonly ClaudeCall[] {
  const answers = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.type === 'result') answers.set(row.key, [...(answers.get(row.key) ?? []), row]);
  }
  const seen = new Map<string, number>();
  const calls: ClaudeCall[] = [];
  for (const row of rows) {
    if (row.type !== 'started') continue;
    const nth = seen.get(row.key) ?? 0;
    seen.set(row.key, nth + 1);
    const answer = answers.get(row.key)?.[nth];
    if (nth === 0 || answer !== undefined) calls.push(callOf(row, answer));
  }
  return calls;
}

function callOf({ label }: Row, answer: Row | undefined): ClaudeCall {
  const hasAnswer = answer?.result !== undefined && answer.result !== null;
  return {
    ...(typeof label === 'string' ? { label } : {}),
    ...(hasAnswer ? { resultJson: JSON.stringify(answer.result) } : {}),
  };
}
