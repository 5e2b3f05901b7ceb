import { join } from 'node:path';
import type { RunRecord } from '../protocol/run-record.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import { type Disk, errnoOf } from './disk.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Reads `run.json` of a run.
 *
 * @throws FILE_MISSING, FILE_UNREADABLE, REPLAY_FORMAT_NEWER
 */
export async function readRunRecord(disk: Disk, runPath: string): Promise<RunRecord> {
  const path = join(runPath, 'run.json');
  const value = parse(path, await readText(disk, path));
  const version = (value as { v?: unknown } | null)?.v;
  if (typeof version === 'number' && version > 1) {
    throw new WorkflowError(
      'REPLAY_FORMAT_NEWER',
      `${path} has format ${version}; this wf reads format 1. Use the wf that made the run, or update this one.`,
      { data: { path, version, supported: 1 } },
    );
  }
  // Loaded when a record is read: a new run starts without the schema library.
  const { runRecordSchema } = await import('../protocol/run-record.ts');
  const record = runRecordSchema.safeParse(value);
  if (!record.success) {
    const issue = record.error.issues[0];
    throw damaged(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
  }
  return record.data;
}

/** Replaces `run.json`. */
export function writeRunRecord(disk: Disk, runPath: string, record: RunRecord): Promise<void> {
  return replaceFile(disk, join(runPath, 'run.json'), `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * Reads a text file of a run.
 *
 * @throws FILE_MISSING, FILE_UNREADABLE
 */
export async function readText(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.readFile(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT' || errnoOf(cause) === 'ENOTDIR') {
      throw new WorkflowError('FILE_MISSING', `${path} is missing. Put it back, or start a new run.`, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('FILE_UNREADABLE', `${path} cannot be read: ${reason}.`, { cause });
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw damaged(path, reason.replace(/\s+/g, ' ')); // V8 quotes the text, line ends included
  }
}

function damaged(path: string, what: string): WorkflowError {
  return new WorkflowError('FILE_UNREADABLE', `${path} is damaged (${what}). Put back a copy, or start a new run.`);
}
