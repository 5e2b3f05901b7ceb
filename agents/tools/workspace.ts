import { realpath } from 'node:fs/promises';
import path from 'node:path';

/** A path that was found to lie in the working directory. */
export interface WorkspacePath {
  /** Real path, links resolved; absolute. */
  readonly absolute: string;
  /** As seen from the working directory, with forward slashes; `.` for itself. */
  readonly relative: string;
}

/** Why a path cannot be used, in words for the model. */
export class WorkspacePathError extends Error {}

/**
 * Finds an existing path inside the working directory.
 *
 * Contract: links are followed before the check, so a link that leads out is refused as `..` is. Absolute paths are fine
 * as long as they lie inside.
 *
 * @throws WorkspacePathError when the path is outside or does not exist
 */
export async function resolveInWorkspace(cwd: string, given: string): Promise<WorkspacePath> {
  if (given.includes('\0')) throw new WorkspacePathError('A path cannot hold a NUL character.');
  const root = await realpath(cwd);
  const wanted = path.resolve(root, given);
  if (!isInside(root, wanted) && !isInside(path.resolve(cwd), wanted)) throw outside(given);
  const absolute = await realpath(wanted).catch((error: NodeJS.ErrnoException) => {
    throw new WorkspacePathError(
      error.code === 'ENOENT' || error.code === 'ENOTDIR'
        ? `${given} does not exist.`
        : `${given} cannot be opened (${error.code}).`,
    );
  });
  if (!isInside(root, absolute)) throw outside(given);
  return { absolute, relative: path.relative(root, absolute).split(path.sep).join('/') || '.' };
}

function isInside(root: string, candidate: string): boolean {
  const relative = path.relative(root, candidate);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

function outside(given: string): WorkspacePathError {
  return new WorkspacePathError(`${given} is outside the working directory. Only files in it can be used.`);
}
