import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { WorkflowError } from '../../protocol/workflow-error.ts';

/** How a step ended, as far as a later launch needs it. */
export interface StoredEnd {
  readonly stepId: string;
  /** Tells a repeated answer from another one. */
  readonly fingerprint: string;
  readonly end:
    | { readonly type: 'value'; readonly valueJson: string; readonly attempts: number }
    | { readonly type: 'null'; readonly code: 'AGENT_SKIPPED' | 'AGENT_GAVE_UP'; readonly message: string }
    | { readonly type: 'invalid'; readonly errors: readonly string[]; readonly lastText: string };
}

export type StepRow =
  | { readonly type: 'offered'; readonly stepId: string; readonly key: string }
  | { readonly type: 'rejected'; readonly stepId: string; readonly errors: readonly string[] }
  | ({ readonly type: 'ended' } & StoredEnd);

const FILE_MODE = 0o600;
const NEWLINE = 0x0a;

/**
 * `steps.jsonl` of a run: what was handed out, what was turned down, how each step ended (H-16). It holds answers before the
 * run's journal does, so that a server that dies between the two asks nothing twice.
 *
 * Contract: `append` returns once the row is in the file, an end once it is on the disk. A torn or foreign line is skipped.
 */
export class StepFile {
  readonly #path: string;
  #descriptor: number | undefined;

  /** @param path absolute; made with the first row */
  constructor(path: string) {
    this.#path = path;
  }

  read(): readonly StepRow[] {
    return this.#text()
      .split('\n')
      .flatMap((line) => rowOf(line));
  }

  /** @throws STATE_UNWRITABLE */
  append(row: StepRow): void {
    try {
      this.#descriptor ??= this.#open();
      writeSync(this.#descriptor, `${JSON.stringify(row)}\n`);
      if (row.type === 'ended') fdatasyncSync(this.#descriptor);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new WorkflowError(
        'STATE_UNWRITABLE',
        `${this.#path} cannot be written: ${reason}. Make room or mend the permissions, then hand the answer in again.`,
        { cause },
      );
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** A line that a crash tore must not swallow the next one. */
  #open(): number {
    const text = this.#text();
    const descriptor = openSync(this.#path, 'a', FILE_MODE);
    if (text !== '' && text.charCodeAt(text.length - 1) !== NEWLINE) writeSync(descriptor, '\n');
    return descriptor;
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      const reason = error instanceof Error ? error.message : String(error);
      throw new WorkflowError('FILE_UNREADABLE', `${this.#path} cannot be read: ${reason}.`, { cause: error });
    }
  }
}

function rowOf(line: string): readonly StepRow[] {
  try {
    const row = JSON.parse(line) as Partial<StepRow> | null;
    const known = row?.type === 'offered' || row?.type === 'rejected' || row?.type === 'ended';
    return known && typeof row.stepId === 'string' ? [row as StepRow] : [];
  } catch {
    return [];
  }
}
