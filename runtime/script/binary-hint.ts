/** Share of characters that are U+FFFD from which a text is taken for bytes that were no UTF-8. */
const MOSTLY = 0.1;

/** Says what to do when a text is no text: NUL bytes (UTF-16 has many) or mostly replacement characters. Source: spec S-6. */
export function binaryHint(source: string): string | undefined {
  const replaced = source.split('\uFFFD').length - 1;
  const hasNul = source.includes('\0');
  if (!hasNul && replaced <= source.length * MOSTLY) return undefined;
  return hasNul
    ? 'The file has NUL characters: it is binary, or UTF-16. Save the script as UTF-8 text.'
    : 'Most of the file is not UTF-8: it is binary, or in another encoding. Save the script as UTF-8 text.';
}
