import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Where the trees of a repository are, below its root. */
export const TREES_FOLDER = '.wf/worktrees';

/** What is known of a tree; kept in a file beside it, so that a killed process leaves nothing that nobody can name. */
export interface TreeRecord {
  /** `<runId>-<n>`: name of the folder. */
  readonly name: string;
  readonly runId: string;
  /** Of the agent that it was made for. */
  readonly key: string;
  readonly branch: string;
  /** Commit that it started from. */
  readonly base: string;
  /** False while git has not finished making it. */
  readonly ready: boolean;
}

/** Absolute path of the folder that holds the trees of a repository. */
export function treesFolder(root: string): string {
  return join(root, TREES_FOLDER);
}

export function treePath(root: string, { name }: Pick<TreeRecord, 'name'>): string {
  return join(treesFolder(root), name);
}

export async function writeTreeRecord(root: string, record: TreeRecord): Promise<void> {
  const path = recordPath(root, record);
  await writeFile(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export async function removeTreeRecord(root: string, record: TreeRecord): Promise<void> {
  await rm(recordPath(root, record), { force: true });
}

/** Reads what is known of the trees of a run, by rising number. What cannot be read is left out. */
export async function readTreeRecords(root: string, runId: string): Promise<readonly TreeRecord[]> {
  const names = await readdir(treesFolder(root)).catch(() => []);
  const mine = names.filter((name) => name.startsWith(`${runId}-`) && name.endsWith('.json'));
  const records = await Promise.all(mine.map((name) => readRecord(join(treesFolder(root), name))));
  const known = records.filter((record) => record !== undefined);
  return known.filter((record) => record.runId === runId).sort((a, b) => treeNumber(a.name) - treeNumber(b.name));
}

/** `n` of `<runId>-<n>`; 0 where there is none. */
export function treeNumber(name: string): number {
  return Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
}

function recordPath(root: string, record: Pick<TreeRecord, 'name'>): string {
  return `${treePath(root, record)}.json`;
}

async function readRecord(path: string): Promise<TreeRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(path, 'utf8')) as TreeRecord;
    const texts = [record.runId, record.key, record.branch, record.base];
    const isWhole = texts.every((text) => typeof text === 'string') && record.name === basename(path, '.json');
    return isWhole ? record : undefined;
  } catch {
    return undefined;
  }
}
