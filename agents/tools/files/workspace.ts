import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';

/** A path that was found to lie in the working directory. */
export interface WorkspacePath {
  /** Real path, links resolved; absolute. */
  readonly absolute: string;
  /** As seen from the working directory, with forward slashes; `.` for itself. */
  readonly relative: string;
  /** The same before links were resolved. */
  readonly asGiven: string;
}

/** Why a path cannot be used, in words for the model. */
export class WorkspacePathError extends Error {}

/**
 * Finds an existing path inside the working directory.
 *
 * Contract: links are followed before the check, so a link that leads out is refused as `..` is. Absolute paths are fine
 * as long as they lie inside. A hard link is the file itself, whatever its other names are.
 *
 * @throws WorkspacePathError when the path is outside or does not exist
 */
export async function resolveInWorkspace(cwd: string, given: string): Promise<WorkspacePath> {
  const { root, wanted } = await enter(cwd, given);
  const absolute = await realpath(wanted).catch((error: NodeJS.ErrnoException) => {
    throw unusable(given, error);
  });
  if (!isInside(root, absolute)) throw outside(given);
  return workspacePath(root, absolute, wanted);
}

/**
 * Finds where a file is, or would be, inside the working directory: the directories that exist are resolved, those that do
 * not are taken as they stand.
 *
 * @throws WorkspacePathError when the path is outside, leads through a link to nothing or through a file
 */
export async function resolveForWriting(cwd: string, given: string): Promise<WorkspacePath> {
  const { root, wanted } = await enter(cwd, given);
  const missing: string[] = [];
  for (let existing = wanted; ; existing = path.dirname(existing)) {
    const real = await realpath(existing).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw unusable(given, error);
      return undefined;
    });
    if (real !== undefined) {
      if (!isInside(root, real)) throw outside(given);
      if (missing.length > 0 && !(await lstat(real)).isDirectory()) {
        throw new WorkspacePathError(`${given} cannot be made: there is a file where a directory should be.`);
      }
      return workspacePath(root, path.join(real, ...missing), wanted);
    }
    // Something that is there without a real path is a link to nothing: a write would make what it points at.
    if (await isThere(existing)) throw new WorkspacePathError(`${given} leads through a link to nothing.`);
    if (existing === path.dirname(existing)) throw outside(given);
    missing.unshift(path.basename(existing));
  }
}

/** Tells whether a real path lies in a real directory, or is it. */
export function isInside(root: string, candidate: string): boolean {
  const relative = path.relative(root, candidate);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

async function enter(cwd: string, given: string): Promise<{ readonly root: string; readonly wanted: string }> {
  if (given.includes('\0')) throw new WorkspacePathError('A path cannot hold a NUL character.');
  const root = await realpath(cwd);
  const wanted = path.resolve(root, given);
  if (isInside(root, wanted)) return { root, wanted };
  // The working directory may be known by a name that is a link.
  const named = path.resolve(cwd);
  if (isInside(named, wanted)) return { root, wanted: path.join(root, path.relative(named, wanted)) };
  throw outside(given);
}

function workspacePath(root: string, absolute: string, wanted: string): WorkspacePath {
  const seen = (file: string): string => path.relative(root, file).split(path.sep).join('/') || '.';
  return { absolute, relative: seen(absolute), asGiven: seen(wanted) };
}

async function isThere(candidate: string): Promise<boolean> {
  return lstat(candidate).then(
    () => true,
    () => false,
  );
}

function unusable(given: string, { code }: NodeJS.ErrnoException): WorkspacePathError {
  if (code === 'ENOENT' || code === 'ENOTDIR') return new WorkspacePathError(`${given} does not exist.`);
  if (code === 'ENAMETOOLONG') return new WorkspacePathError('The path is longer than this system allows.');
  return new WorkspacePathError(`${given} cannot be opened (${code}).`);
}

function outside(given: string): WorkspacePathError {
  return new WorkspacePathError(`${given} is outside the working directory. Only files in it can be used.`);
}
