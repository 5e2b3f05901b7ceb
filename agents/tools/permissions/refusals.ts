import { stripVTControlCharacters } from 'node:util';
import type { Cuts } from '../../cuts.ts';
import type { Refusal } from './permissions.ts';

const LONGEST_ABOUT = 120;
const MOST_RULES = 5;
/** Agents of a run whose refusals are said; a run of hundreds would say hundreds of times the same. */
const MOST_AGENTS = 5;

/** The calls of one agent that were refused since nobody was there to allow them. */
export class Refusals {
  #first: Refusal | undefined;
  #count = 0;
  readonly #rules = new Set<string>();

  add(refusal: Refusal): void {
    this.#first ??= refusal;
    this.#count += 1;
    this.#rules.add(refusal.rule);
  }

  /** Says it to whoever started the run, who may not know that agents only read unless told otherwise. */
  text(label: string, cuts: Cuts): string | undefined {
    if (this.#first === undefined) return undefined;
    const { toolName, about } = this.#first;
    const shown = about === undefined ? '' : ` \`${bounded(about, cuts)}\``;
    const what = this.#count === 1 ? 'a call' : `${this.#count} calls`;
    const which = this.#count === 1 ? '' : ', the first';
    const rules = [...this.#rules].slice(0, MOST_RULES).join(',');
    return `The agent "${bounded(label, cuts)}" was refused ${what} that nobody was there to allow${which}: ${toolName}${shown}. To allow such calls: --allow-tools '${rules}'.`;
  }
}

/** Says the refusals of the first agents of each run, and once that there are more. */
export class RefusalNotices {
  readonly #agents = new Map<string, number>();

  /** @returns what to say; undefined when it was said that there are more */
  next(runId: string, text: string): string | undefined {
    const before = this.#agents.get(runId) ?? 0;
    this.#agents.set(runId, before + 1);
    if (before < MOST_AGENTS) return text;
    return before === MOST_AGENTS ? 'More agents were refused calls: their transcripts say which.' : undefined;
  }
}

function bounded(text: string, cuts: Cuts): string {
  const line = stripVTControlCharacters(text.toWellFormed())
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return line.length <= LONGEST_ABOUT ? line : `${cuts.slice(line, 0, LONGEST_ABOUT)}…`;
}
