import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/** Finds a program as a shell does: a name on the search path, or a path as seen from `cwd`. Undefined when there is none. */
export async function findProgram(
  name: string,
  { searchPath, cwd }: { readonly searchPath: string; readonly cwd: string },
): Promise<string | undefined> {
  if (name === '') return undefined;
  if (name.includes('/')) {
    const file = path.resolve(cwd, name);
    return (await isProgram(file)) ? file : undefined;
  }
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.resolve(cwd, folder, name);
    if (folder !== '' && (await isProgram(file))) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
