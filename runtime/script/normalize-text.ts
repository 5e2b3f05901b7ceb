import { scriptError } from './script-error.ts';

/** Longest script, in UTF-16 units. Source: spec S-1. */
const MAX_SCRIPT_LENGTH = 524_288;

/**
 * Drops a leading BOM and makes every line end `\n`, so that a script has the same text, and so the same keys, on every system.
 *
 * @throws SCRIPT_TOO_LARGE
 */
export function normalizeText(text: string, fileName: string): string {
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  if (source.length > MAX_SCRIPT_LENGTH) {
    throw scriptError(
      'SCRIPT_TOO_LARGE',
      { fileName, source },
      MAX_SCRIPT_LENGTH,
      `The script has ${source.length.toLocaleString('en-US')} characters; at most ${MAX_SCRIPT_LENGTH.toLocaleString('en-US')} are allowed.`,
      'Pass large data in args, or let agents read it from files.',
    );
  }
  return source;
}
