import { findEagerParallel } from './check/eager-parallel.ts';
import type { Finding } from './check/finding.ts';
import { findLooseSchemas } from './check/loose-schema.ts';
import { findUnawaited } from './check/not-awaited.ts';
import { findPromisesAsValues } from './check/promise-as-value.ts';
import { ScriptFacts } from './check/script-facts.ts';
import { findUnboundedLoops } from './check/unbounded-loop.ts';
import { findUnknownNames } from './check/unknown-name.ts';
import { findUnstablePrompts } from './check/unstable-prompt.ts';
import { parseProgram } from './parse-program.ts';
import type { ParsedScript } from './parse-script.ts';
import { placeAt } from './source-place.ts';
import { toSourceOffset } from './wrap-program.ts';

export type ScriptRule =
  | 'eager-parallel'
  | 'not-awaited'
  | 'unstable-prompt'
  | 'loose-schema'
  | 'unbounded-loop'
  | 'unknown-name';

/** Something that runs but will hurt. Line and column are those of the author's file, from 1. */
export interface ScriptWarning {
  readonly rule: ScriptRule;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

const RULES: Readonly<Record<ScriptRule, (facts: ScriptFacts) => readonly Finding[]>> = {
  'eager-parallel': findEagerParallel,
  'not-awaited': (facts) => [...findUnawaited(facts), ...findPromisesAsValues(facts)],
  'unstable-prompt': findUnstablePrompts,
  'loose-schema': findLooseSchemas,
  'unbounded-loop': findUnboundedLoops,
  'unknown-name': findUnknownNames,
};

/**
 * Warns about what a script says that is valid and will hurt, without running it. Source: spec C-3.
 *
 * Contract: warnings come in the order of the text. A rule stays silent about what it cannot see.
 */
export function checkScript(script: ParsedScript): readonly ScriptWarning[] {
  const facts = new ScriptFacts(parseProgram(script).main);
  const found = Object.entries(RULES).flatMap(([rule, find]) =>
    find(facts).map(({ node, message }) => ({ rule: rule as ScriptRule, message, offset: toSourceOffset(node.start) })),
  );
  return found
    .sort((left, right) => left.offset - right.offset)
    .map(({ rule, message, offset }) => ({ rule, message, ...placeAt(script.source, offset) }));
}
