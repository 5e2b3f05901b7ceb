import { InvalidArgumentError } from 'commander';
import { nearestWord } from '../../protocol/nearest-word.ts';

/** Makes a parser of whole numbers within bounds, both allowed. The error names the bounds. */
export function integerBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      const bounds = min === Number.MIN_SAFE_INTEGER ? '' : ` from ${min} to ${max}`;
      throw new InvalidArgumentError(`It takes a whole number${bounds}.`);
    }
    return value;
  };
}

/** Makes a parser of numbers within bounds, both allowed, decimals included. */
export function numberBetween(min: number, max: number, unit: string): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new InvalidArgumentError(`It takes ${unit} from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Makes a parser of one word out of `words`. `later` are words that exist but cannot be used yet; they pass, to be refused by name. */
export function wordOf(words: readonly string[], later: readonly string[] = []): (text: string) => string {
  return (text) => {
    if (words.includes(text) || later.includes(text)) return text;
    const near = nearestWord(text, words);
    throw new InvalidArgumentError(`It takes ${orList(words)}.${near === undefined ? '' : ` (Did you mean ${near}?)`}`);
  };
}

/** Takes a text that says something: an empty one comes from a variable of the shell that is not set. */
export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty; give a value, or leave the option out.');
  return text;
}

/** Parses a span such as `90s`, `30m`, `12h`, `7d` into milliseconds. */
export function spanMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h|d|w)$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError('It takes a number and a unit: 90s, 30m, 12h, 7d or 2w.');
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses `name=n` and adds it to those given before. */
export function laneOf(
  text: string,
  previous: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> {
  const match = /^([^=]+)=(\d+)$/.exec(text);
  const size = Number(match?.[2]);
  if (match === null || !Number.isSafeInteger(size) || size < 1) {
    throw new InvalidArgumentError('It takes a name and how many agents at a time: heavy=1.');
  }
  return { ...previous, [match[1] as string]: size };
}

/** Collects an option that may be given several times. */
export function collect(text: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), text];
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
