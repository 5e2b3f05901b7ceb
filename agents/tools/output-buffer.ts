import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

/** Characters kept of each end of an output; what lies between is dropped and counted. */
const END_CHARACTERS = 4 * 1024 * 1024;
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

  /** Everything that was kept. */
  get text(): string {
    if (this.#dropped === 0) return this.#head + this.#tail.join('');
    return `${this.#head}\n[${this.#dropped} characters are missing here]\n${this.#tail.join('')}`;
  }

  /** Characters printed so far. */
  get length(): number {
    return this.#head.length + this.#tailLength + this.#dropped;
  }

  #take(text: string): void {
    if (text === '') return;
    const room = Math.max(0, END_CHARACTERS - this.#head.length);
    this.#head += text.slice(0, room);
    const rest = text.slice(room);
    if (rest === '') return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    while (this.#tailLength > END_CHARACTERS && this.#tail.length > 1) {
      const gone = this.#tail.shift()?.length ?? 0;
      this.#tailLength -= gone;
      this.#dropped += gone;
    }
  }
}

export interface ShownOutput {
  readonly text: string;
  /** Characters that the text leaves out. */
  readonly hidden: number;
}

/** Makes an output fit for a model: no control sequences, and of a long one only the two ends. */
export function shownOutput(output: string, whereIsAll: string | undefined): ShownOutput {
  const clean = stripVTControlCharacters(output).replace(/\r\n/g, '\n').trimEnd();
  const hidden = clean.length - 2 * SHOWN_CHARACTERS;
  if (hidden <= 0) return { text: clean, hidden: 0 };
  const pointer = whereIsAll === undefined ? '' : `; all of it is in ${whereIsAll}`;
  const text = `${clean.slice(0, SHOWN_CHARACTERS)}\n[${hidden} characters left out here${pointer}]\n${clean.slice(-SHOWN_CHARACTERS)}`;
  return { text, hidden };
}

/** Whether {@link shownOutput} would leave something out. */
export function isLongOutput(output: string): boolean {
  return output.length > 2 * SHOWN_CHARACTERS;
}
