/**
 * Makes one line of an author's text safe to show: tabs become spaces, and control and direction characters are replaced, so that
 * a script cannot drive the terminal it is shown in.
 */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\t', '    ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, '\uFFFD');
}
