import { readFile } from 'node:fs/promises';

/** Reads the declarations of what a script can say. They are shipped beside the program, one folder up from here both in the sources and in the build. */
export function readGlobalsFile(): Promise<string> {
  return readFile(new URL('../dsl/globals.d.ts', import.meta.url), 'utf8');
}
