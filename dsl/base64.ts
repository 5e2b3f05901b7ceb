const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 of a string whose characters are bytes. Source: HTML Standard, `btoa`. */
export function btoa(data: unknown): string {
  const bytes = String(data);
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes.charCodeAt(at), bytes.charCodeAt(at + 1), bytes.charCodeAt(at + 2)];
    if (a > 255 || b > 255 || c > 255) {
      throw new RangeError(
        'btoa() takes characters up to U+00FF only. Encode other text with new TextEncoder() first.',
      );
    }
    const group = (a << 16) | ((b || 0) << 8) | (c || 0);
    text += `${ALPHABET[group >> 18]}${ALPHABET[(group >> 12) & 63]}`;
    text += Number.isNaN(b) ? '=' : ALPHABET[(group >> 6) & 63];
    text += Number.isNaN(c) ? '=' : ALPHABET[group & 63];
  }
  return text;
}

/** The bytes of a base64 text, as characters. Source: Infra Standard, forgiving-base64 decode. */
export function atob(data: unknown): string {
  let text = String(data).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/==?$/, '');
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
    throw new RangeError('atob() was given a text that is not base64.');
  let bytes = '';
  let bits = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    bits = ((bits << 6) | ALPHABET.indexOf(text.charAt(at))) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += String.fromCharCode((bits >> count) & 255);
  }
  return bytes;
}
