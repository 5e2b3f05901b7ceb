import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { CUT_REACH, type Cuts } from '../../cuts.ts';

/** Characters given of each end of an output; what lies between is dropped and counted. */
const END_CHARACTERS = 4 * 1024 * 1024;
/** Characters kept of each end: beyond the cut a secret may go on. */
const KEPT_CHARACTERS = END_CHARACTERS + CUT_REACH;
/** Characters of each end that a model is shown. */
const SHOWN_CHARACTERS = 15_000;

/** What a command printed, in bounded memory: its beginning and its end. */
export class OutputBuffer {
  readonly #decoder = new StringDecoder('utf8');
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #dropped = 0;

  add(bytes: Buffer): void {
    this.#take(this.#decoder.write(bytes));
  }

  /** Ends the last character, where a command died in its midst. */
  end(): void {
    this.#take(this.#decoder.end());
  }

  /**
   * Gives what was kept from a place on, with a line about what is missing.
   *
   * @param from characters printed before it
   */
  text(from: number, cuts: Cuts): string {
    const tail = this.#tail.join('');
    if (this.#dropped === 0) return (this.#head + tail).slice(from);
    const tailFrom = this.length - this.#tailLength;
    const last = cuts.slice(tail, Math.max(from - tailFrom, this.#tailLength - END_CHARACTERS), tail.length);
    if (from >= this.length - last.length) return last;
    const first = cuts.slice(this.#head, Math.min(from, END_CHARACTERS), END_CHARACTERS);
    const missing = this.length - from - first.length - last.length;
    return `${first}\n[${missing} characters are missing here]\n${last}`;
  }

  /** Characters printed so far. */
  get length(): number {
    return this.#head.length + this.#dropped + this.#tailLength;
  }

  #take(text: string): void {
    if (text === '') return;
    const room = Math.max(0, KEPT_CHARACTERS - this.#head.length);
    this.#head += text.slice(0, room);
    const rest = text.slice(room);
    if (rest === '') return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    for (let first = this.#tail[0]?.length ?? 0; this.#tailLength - first >= KEPT_CHARACTERS; ) {
      this.#tail.shift();
      this.#tailLength -= first;
      this.#dropped += first;
      first = this.#tail[0]?.length ?? 0;
    }
  }
}

const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;
/** Where Unicode has a sign for each control character. */
const FIRST_SIGN = 0x2400;

/**
 * Takes away the control sequences of terminals, also for the search for secrets, which they would hide. Of other control
 * characters, as binary output has them, a sign is left.
 */
export function plainOutput(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/\r\n/g, '\n')
    .replace(CONTROLS, (control) => {
      const code = control.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(FIRST_SIGN + code) : '';
    });
}

/** Makes a plain output fit for a model: of a long one only the two ends. */
export function shownOutput(plain: string, whereIsAll: string | undefined, cuts: Cuts): string {
  const text = plain.trimEnd();
  if (!isLongOutput(text)) return text;
  const first = cuts.slice(text, 0, SHOWN_CHARACTERS);
  const last = cuts.slice(text, text.length - SHOWN_CHARACTERS, text.length);
  const pointer = whereIsAll === undefined ? '' : `; all of it is in ${whereIsAll}`;
  return `${first}\n[${text.length - first.length - last.length} characters left out here${pointer}]\n${last}`;
}

/** Whether {@link shownOutput} would leave something out. */
export function isLongOutput(plain: string): boolean {
  return plain.length > 2 * SHOWN_CHARACTERS;
}
