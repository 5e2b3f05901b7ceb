import { JOURNAL_VERSION } from '../protocol/journal-version.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { JournalContents, StoredRow } from '../runtime/ports.ts';
import { type Disk, errnoOf } from './disk.ts';
import { readJournalLine } from './journal-line.ts';
import { addNewline, cutAt, type LineRange, type Repair, setAside } from './journal-repair.ts';
import { type Line, readLines } from './read-lines.ts';

export interface JournalRead extends JournalContents {
  /** Mends the file; must run before rows are appended. Undefined when the file is sound. */
  readonly repair: Repair | undefined;
}

interface Findings {
  readonly rows: StoredRow[];
  readonly damaged: (LineRange & { readonly goodLinesBefore: number })[];
  goodLines: number;
  last: { readonly terminated: boolean; readonly offset: number } | undefined;
  newerVersion: number | undefined;
}

/**
 * Reads a journal; a missing one has no rows. Changes nothing on the disk.
 *
 * Contract:
 * - A damaged last line is what a crash leaves: it is left out with a warning.
 * - Any other damaged line stops the reading, unless `salvage` asks for the good rows; the repair then moves the damaged
 *   lines to `journal.rejected`.
 * - Rows of unknown types are skipped.
 *
 * @throws REPLAY_JOURNAL_CORRUPT, REPLAY_FORMAT_NEWER, FILE_UNREADABLE
 */
export async function readJournal(
  disk: Disk,
  path: string,
  options: { readonly salvage?: boolean } = {},
): Promise<JournalRead> {
  const found = await readFindings(disk, path);
  if (found.newerVersion !== undefined) {
    throw newerError(path, found.newerVersion);
  }
  const { rows, damaged, last } = found;
  const first = damaged[0];
  if (first === undefined || last === undefined) {
    return { rows, warnings: [], repair: last?.terminated === false ? addNewline(disk, path) : undefined };
  }
  if (damaged.length === 1 && first.start === last.offset) {
    const warning = `The last row of ${path} (line ${first.number}) was not written whole, as after a crash; it is left out and what it recorded is done again.`;
    return { rows, warnings: [warning], repair: cutAt(disk, path, first.start) };
  }
  if (options.salvage !== true) {
    throw corruptError(path, found);
  }
  const lines = damaged.map((line) => line.number).join(', ');
  const warning = `${damaged.length === 1 ? 'Line' : 'Lines'} ${lines} of ${path} ${damaged.length === 1 ? 'is' : 'are'} damaged and moved to journal.rejected; ${found.goodLines} good rows are kept.`;
  return { rows, warnings: [warning], repair: setAside(disk, path, damaged) };
}

async function readFindings(disk: Disk, path: string): Promise<Findings> {
  const found: Findings = { rows: [], damaged: [], goodLines: 0, last: undefined, newerVersion: undefined };
  try {
    const file = await disk.open(path, 'r');
    try {
      await readLines(file, (line) => takeLine(line, found));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') {
      const reason = error instanceof Error ? error.message : String(error);
      throw new WorkflowError('FILE_UNREADABLE', `The journal ${path} cannot be read: ${reason}.`, { cause: error });
    }
  }
  return found;
}

function takeLine(line: Line, found: Findings): void {
  const content = readJournalLine(line.buffer, line.start, line.end);
  found.last = { terminated: line.terminated, offset: line.offset };
  switch (content.kind) {
    case 'row':
      found.goodLines += 1;
      found.rows.push(content.stored);
      if (content.stored.row.type === 'launched' && content.stored.row.v > JOURNAL_VERSION) {
        found.newerVersion ??= content.stored.row.v;
      }
      return;
    case 'unknown':
      found.goodLines += 1;
      return;
    case 'damaged': {
      const { offset: start, number, terminated } = line;
      const end = start + (line.end - line.start) + (terminated ? 1 : 0);
      found.damaged.push({ start, end, number, terminated, goodLinesBefore: found.goodLines });
      if (line.number === 1) {
        found.newerVersion ??= versionOfForeignLine(line.buffer.toString('utf8', line.start, line.end));
      }
    }
  }
}

/** A newer format may seal its rows in another way; its first row still says its version. */
function versionOfForeignLine(text: string): number | undefined {
  try {
    const row = JSON.parse(text) as { type?: unknown; v?: unknown } | null;
    return row?.type === 'launched' && typeof row.v === 'number' && row.v > JOURNAL_VERSION ? row.v : undefined;
  } catch {
    return undefined;
  }
}

function newerError(path: string, version: number): WorkflowError {
  return new WorkflowError(
    'REPLAY_FORMAT_NEWER',
    `${path} has journal format ${version}; this wf reads formats up to ${JOURNAL_VERSION}. Resume the run with the wf that made it, or update this one.`,
    { data: { path, version, supported: JOURNAL_VERSION } },
  );
}

function corruptError(path: string, found: Findings): WorkflowError {
  const first = found.damaged[0];
  const before = first?.goodLinesBefore ?? 0;
  const after = found.goodLines - before;
  const lines = found.damaged.map((line) => line.number);
  const others = lines.length === 1 ? '' : ` (${lines.length} damaged lines in all)`;
  return new WorkflowError(
    'REPLAY_JOURNAL_CORRUPT',
    `Line ${first?.number} of ${path} is not what was written there${others}. ${before} good rows stand before it and ${after} after it. ` +
      'Put back a copy of the file, or resume with --salvage: it keeps the good rows, moves the damaged lines to journal.rejected, and runs again what they recorded.',
    { data: { path, line: first?.number, lines: lines.slice(0, 100), goodBefore: before, goodAfter: after } },
  );
}
