/** A line of a text; of a long one only its beginning is kept. */
export interface BoundedLine {
  readonly text: string;
  /** Characters of the whole line. */
  readonly length: number;
}

/** Splits a text that comes in pieces into lines, whatever their length, in bounded memory. A line end is LF or CRLF. */
export async function* boundedLines(
  pieces: AsyncIterable<string>,
  maxCharacters: number,
): AsyncGenerator<BoundedLine, void, undefined> {
  let text = '';
  let length = 0;
  let endsWithCr = false;
  const take = (part: string): void => {
    if (part === '') return;
    text += part.slice(0, Math.max(0, maxCharacters - text.length));
    length += part.length;
    endsWithCr = part.endsWith('\r');
  };
  const finish = (): BoundedLine => {
    const whole = endsWithCr ? length - 1 : length;
    const line = { text: text.slice(0, whole), length: whole };
    text = '';
    length = 0;
    endsWithCr = false;
    return line;
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', from)) {
      take(piece.slice(from, at));
      yield finish();
      from = at + 1;
    }
    take(piece.slice(from));
  }
  if (length > 0) yield finish();
}
