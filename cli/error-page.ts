import { fileURLToPath } from 'node:url';

/** Path of the page about an error code. The pages are shipped beside the program, one folder up from here both in the sources and in the build. */
export function errorPage(code: string): string {
  return fileURLToPath(new URL(`../docs/errors/${code}.md`, import.meta.url));
}
