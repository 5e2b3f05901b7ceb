import type { ResponseRule, ResponsesFile, ResponseTurn } from '../../protocol/responses-file.ts';

/** The turns planned for one agent, in order; the last one repeats. */
export interface PlannedReply {
  readonly turns: readonly ResponseTurn[];
  /** How many were used. Lives on over attempts, so that a retry goes on in the list. */
  used: number;
}

interface CompiledRule {
  readonly regex: RegExp | undefined;
  readonly label: string | undefined;
  readonly turns: readonly ResponseTurn[];
  /** Whether captures of the regex have to be put into the turns. */
  readonly takesCaptures: boolean;
  left: number;
}

/** Finds the planned reply of each agent (C-12): the first rule that matches and is not used up, else the default. */
export class ResponseBook {
  readonly #rules: readonly CompiledRule[];
  readonly #default: readonly ResponseTurn[] | undefined;

  constructor(file: ResponsesFile) {
    this.#rules = (file.rules ?? []).map(compileRule);
    this.#default = file.default;
  }

  /** Opens the reply for a new agent, and uses its rule up by one; undefined when nothing was planned. */
  open(prompt: string, label: string): PlannedReply | undefined {
    for (const rule of this.#rules) {
      if (rule.left <= 0 || (rule.label !== undefined && rule.label !== label)) continue;
      if (rule.regex === undefined) return take(rule, undefined);
      if (!rule.takesCaptures) {
        if (rule.regex.test(prompt)) return take(rule, undefined);
        continue;
      }
      const captures = rule.regex.exec(prompt);
      if (captures !== null) return take(rule, captures);
    }
    return this.#default === undefined ? undefined : { turns: this.#default, used: 0 };
  }
}

function compileRule({ match, label, times, reply }: ResponseRule): CompiledRule {
  const regex = match === null || match === undefined ? undefined : new RegExp(match);
  return {
    regex,
    label,
    turns: reply,
    takesCaptures: regex !== undefined && /\$[1-9]/.test(JSON.stringify(reply)),
    left: times ?? Number.POSITIVE_INFINITY,
  };
}

function take(rule: CompiledRule, captures: RegExpExecArray | undefined): PlannedReply {
  rule.left -= 1;
  const turns = captures === undefined ? rule.turns : (withCaptures(rule.turns, captures) as readonly ResponseTurn[]);
  return { turns, used: 0 };
}

/** Replaces `$1` to `$9` in every string by the captures there are; one that took no part is empty. */
function withCaptures(value: unknown, captures: RegExpExecArray): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$([1-9])/g, (sign, digit) =>
      Number(digit) < captures.length ? (captures[Number(digit)] ?? '') : sign,
    );
  }
  if (Array.isArray(value)) return value.map((item) => withCaptures(item, captures));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withCaptures(item, captures)]));
}
