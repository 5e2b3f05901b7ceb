const PLAIN_WORD = /^[A-Za-z0-9_/:=.,@%+-]+$/;

/** Writes one word so that a POSIX shell reads it back unchanged. */
export function shellQuote(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
