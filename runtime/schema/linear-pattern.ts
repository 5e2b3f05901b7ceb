import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { translatePattern } from './translate-pattern.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';
import { spendWork } from './work-meter.ts';

/** A regular expression that takes time in proportion to the text. */
export interface LinearPattern {
  /** How large the compiled pattern is; time and memory grow with it. */
  readonly size: number;
  /** @throws WorkExhaustedError when the validation under way may do no more. */
  test(text: string): boolean;
  toString(): string;
}

const CHARACTERS_PER_WORK_UNIT = 8;
/** The engine's time for a character grows with the pattern at worst; small patterns take about the same. */
const INSTRUCTIONS_PER_WORK_UNIT = 4;
/** What even the smallest pattern costs to compile, in instructions. */
const LEAST_SIZE = 50;
const require = createRequire(import.meta.url);
const compiled = new Map<string, LinearPattern>();

/**
 * Compiles a pattern of a schema for an engine without backtracking.
 *
 * Contract: the pattern is ECMA-262 with code points as characters (`u`); one that is only valid without `u`, such as
 * `\_`, is taken as well. Matches anywhere in the text, as JSON Schema says. {@link LinearPattern.test} spends work.
 *
 * @throws UnusableSchemaError when it is no regular expression, or one that needs backtracking; the message names it.
 */
export function compileLinearPattern(source: string, place: string): LinearPattern {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const fault = syntaxFault(source);
  if (fault !== undefined) {
    throw new UnusableSchemaError(`The pattern ${quote(source)} at ${place} is not a regular expression: ${fault}.`);
  }
  const pattern = wrap(source, compileWithoutBacktracking(source, place));
  if (compiled.size >= 2_000) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}

function syntaxFault(source: string): string | undefined {
  try {
    new RegExp(source, 'u');
    return undefined;
  } catch {
    try {
      new RegExp(source);
      return undefined;
    } catch (error) {
      return (error as Error).message.replace(/^Invalid regular expression: /, '').slice(-80);
    }
  }
}

function compileWithoutBacktracking(source: string, place: string): RE2JS {
  const translated = translatePattern(source);
  if ('needs' in translated) throw notLinear(source, place, translated.needs);
  const { RE2JS } = require('re2js') as typeof import('re2js');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(translated.source));
  } catch (error) {
    throw notLinear(source, place, (error as Error).message.slice(0, 120), error);
  }
}

function notLinear(source: string, place: string, why: string, cause?: unknown): UnusableSchemaError {
  return new UnusableSchemaError(
    `The pattern ${quote(source)} at ${place} cannot be run in linear time: ${why}. ` +
      'Write it without lookaround and backreferences, or check the value in the script.',
    { cause },
  );
}

function wrap(source: string, engine: RE2JS): LinearPattern {
  const size = engine.programSize() + LEAST_SIZE;
  const unitsPerCharacter = Math.max(1, (size - LEAST_SIZE) / INSTRUCTIONS_PER_WORK_UNIT) / CHARACTERS_PER_WORK_UNIT;
  return {
    size,
    test(text) {
      spendWork(1 + text.length * unitsPerCharacter);
      return engine.test(text);
    },
    toString: () => source,
  };
}

function quote(source: string): string {
  return JSON.stringify(source.length > 100 ? `${source.slice(0, 100)}…` : source);
}
