import type { Mutable } from '../../protocol/mutable.ts';
import type { AgentOptions, OutputContract } from '../ports.ts';
import { createOutputContract } from '../schema/output-contract.ts';
import { UnusableSchemaError } from '../schema/unusable-schema-error.ts';
import { canonicalOptions } from './call-key.ts';
import { type NamedSchemas, NO_NAMED_SCHEMAS } from './named-schemas.ts';

/** The options of one `agent()` call, checked and sorted by who needs them. Source: spec A-1. */
export interface CallOptions {
  readonly label: string | undefined;
  readonly phase: string | undefined;
  /** For the backend. */
  readonly agent: AgentOptions;
  readonly output: OutputContract | undefined;
  /** Turns the stored answer into what the script gets; undefined when they are the same. JSON text in and out. */
  readonly transform: ((valueJson: string) => string) | undefined;
  readonly timeoutMs: number | undefined;
  readonly stallMs: number | undefined;
  readonly lane: string | undefined;
  /** Canonical JSON of what counts for the key. */
  readonly canonical: string;
  /** What a person should know: unknown options, unknown words. */
  readonly warnings: readonly string[];
}

/** The call is wrong; the script gets a TypeError and nothing is spent. */
export class CallOptionsError extends Error {}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const ISOLATIONS = ['worktree'];

const NONE: CallOptions = {
  label: undefined,
  phase: undefined,
  agent: {},
  output: undefined,
  transform: undefined,
  timeoutMs: undefined,
  stallMs: undefined,
  lane: undefined,
  canonical: '{}',
  warnings: [],
};

type Raw = Readonly<Record<string, unknown>>;

/**
 * Reads the options of a call from the JSON the guest sent. `null` counts as not given.
 *
 * @param schemas those a script may name instead of writing one
 * @throws CallOptionsError when a known option has a wrong type or the schema is unusable
 */
export function readCallOptions(optsJson: string | undefined, schemas: NamedSchemas = NO_NAMED_SCHEMAS): CallOptions {
  if (optsJson === undefined) return NONE;
  const raw: unknown = JSON.parse(optsJson);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new CallOptionsError(`agent(): the options must be an object, not ${describe(raw)}.`);
  }
  const fields = raw as Raw;
  const keyed: Record<string, unknown> = {};
  const warnings: string[] = [];
  const agent: Mutable<AgentOptions> = {};
  const result: Mutable<CallOptions> = { ...NONE, agent, warnings };
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    if (name === 'schema') readSchema(value, schemas, result, keyed);
    else readOption(name, value, result, agent, keyed, warnings);
  }
  if (Object.keys(keyed).length > 0) result.canonical = canonicalOptions(keyed);
  return result;
}

function readOption(
  name: string,
  value: unknown,
  result: Mutable<CallOptions>,
  agent: Mutable<AgentOptions>,
  keyed: Record<string, unknown>,
  warnings: string[],
): void {
  switch (name) {
    case 'label':
    case 'phase':
      result[name] = asText(value);
      return;
    case 'lane':
      result.lane = string(name, value);
      return;
    case 'timeoutMs':
    case 'stallMs':
      result[name] = positive(name, value);
      return;
    case 'model':
    case 'agentType':
      keyed[name] = agent[name] = string(name, value);
      return;
    case 'tools':
    case 'disallowedTools':
      keyed[name] = agent[name] = strings(name, value);
      return;
    case 'maxTurns':
      keyed[name] = agent[name] = wholePositive(name, value);
      return;
    case 'effort': {
      const word = known(name, value, EFFORTS, warnings);
      if (word !== undefined) keyed[name] = agent.effort = word as NonNullable<AgentOptions['effort']>;
      return;
    }
    case 'isolation': {
      const word = known(name, value, ISOLATIONS, warnings);
      if (word !== undefined) keyed[name] = agent.isolation = word as NonNullable<AgentOptions['isolation']>;
      return;
    }
    default:
      warnings.push(`agent(): the option "${name}" is unknown and ignored.`);
  }
}

function readSchema(
  value: unknown,
  schemas: NamedSchemas,
  result: Mutable<CallOptions>,
  keyed: Record<string, unknown>,
): void {
  if (typeof value !== 'string') {
    result.output = contract(value);
    keyed.schema = value;
    return;
  }
  const named = schemas.get(value);
  if (named === undefined) {
    const known = schemas.size === 0 ? '' : ` or one of the names ${[...schemas.keys()].join(', ')}`;
    throw new CallOptionsError(`agent(): the schema must be a JSON Schema object${known}, not ${describe(value)}.`);
  }
  result.output = named.output;
  result.transform = named.transform;
  keyed.schema = named.jsonSchema;
}

function contract(schema: unknown): OutputContract {
  try {
    return createOutputContract(schema);
  } catch (error) {
    if (error instanceof UnusableSchemaError) {
      throw new CallOptionsError(`agent(): the schema cannot be used: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function string(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw wrong(name, 'a non-empty string', value);
  return value;
}

function strings(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw wrong(name, 'an array of strings', value);
  }
  return value as string[];
}

function positive(name: string, value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) throw wrong(name, 'a positive number of milliseconds', value);
  return value;
}

function wholePositive(name: string, value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 1) throw wrong(name, 'a whole number from 1', value);
  return value as number;
}

function known(name: string, value: unknown, words: readonly string[], warnings: string[]): string | undefined {
  if (typeof value !== 'string') throw wrong(name, `one of ${words.join(', ')}`, value);
  if (words.includes(value)) return value;
  warnings.push(`agent(): ${name} "${value}" is unknown and ignored; known: ${words.join(', ')}.`);
  return undefined;
}

function wrong(name: string, wanted: string, value: unknown): CallOptionsError {
  return new CallOptionsError(`agent(): the option "${name}" must be ${wanted}, not ${describe(value)}.`);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  return `${typeof value} ${JSON.stringify(value)}`.slice(0, 80);
}
