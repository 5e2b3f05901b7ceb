const BEGINS = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;
const ENDS = '-----END ';

/** Shown for lines of a key whose first line is not shown: nobody could tell any more what they are. */
export const KEY_LINE = '[REDACTED]';

/** Follows the lines of a text and tells which of them are the inside of a private key, its last line among them. */
export class PrivateKeyLines {
  #inside = false;

  isInside(line: string): boolean {
    const wasInside = this.#inside;
    if (line.includes('-----')) this.#inside = BEGINS.test(line) || (wasInside && !line.includes(ENDS));
    return wasInside && !BEGINS.test(line);
  }
}
