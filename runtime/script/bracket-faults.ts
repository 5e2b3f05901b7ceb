import { readTokens } from './script-head.ts';

const OPENING: ReadonlySet<string> = new Set(['(', '[', '{', '${']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);

/** Offsets of the brackets that a script gets wrong, each the first of its kind. */
export interface BracketFaults {
  /** A closing bracket with nothing open. */
  readonly stray: number | undefined;
  /** The innermost bracket that is still open at the end. */
  readonly unclosed: number | undefined;
  /** The bracket with the most others open around it. */
  readonly deepest: number;
}

/** Counts brackets over the tokens of a script, for failures that a parser places badly or not at all. */
export function findBracketFaults(source: string): BracketFaults {
  const open: number[] = [];
  let stray: number | undefined;
  let deepest = 0;
  let depth = 0;
  for (const { type, start } of readTokens(source)) {
    if (OPENING.has(type.label)) {
      open.push(start);
      if (open.length > depth) {
        depth = open.length;
        deepest = start;
      }
    } else if (CLOSING.has(type.label) && open.pop() === undefined) {
      stray ??= start;
    }
  }
  return { stray, unclosed: open.at(-1), deepest };
}
