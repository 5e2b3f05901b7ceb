import type { OutputContract } from '../ports.ts';
import { checkRecursion } from './check-recursion.ts';
import { compileValidator, type Validator } from './compile-validator.ts';
import { isStoredValueValid, judgeAnswer, type Validators } from './judge-answer.ts';
import { normalizeSchema } from './normalize-schema.ts';
import type { SchemaNode } from './schema-keywords.ts';
import { UnusableSchemaError } from './unusable-schema-error.ts';
import { toWireSchema } from './wire-schema.ts';
import { allowWork } from './work-meter.ts';

export { UnusableSchemaError };

/** An {@link OutputContract} with what the runtime needs besides. */
export interface CompiledContract extends OutputContract {
  /** Things in the schema that are not understood and not checked, for a person. */
  readonly warnings: readonly string[];
}

const MAX_SCHEMA_BYTES = 1024 * 1024;
const MAX_SCHEMA_JSON_DEPTH = 256;
const MAX_CACHED = 100;
const WORK_FOR_SCHEMA = 5_000_000;

const cache = new Map<string, CompiledContract>();

/**
 * Makes the contract of a call from its schema, which is what `JSON.parse` gave.
 *
 * Contract:
 * - Equal schemas (same text) share one contract; the last {@link MAX_CACHED} are kept.
 * - Loads the validator with the first schema, not before.
 * - `true` and `{}` are schemas that any value fits; `false` is unusable.
 *
 * @throws UnusableSchemaError for a schema that no answer could be checked against; nothing else.
 */
export function createOutputContract(schema: unknown): CompiledContract {
  const text = schemaText(schema);
  const known = cache.get(text);
  if (known !== undefined) {
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  const contract = compileContract(schema);
  cache.set(text, contract);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value ?? '');
  return contract;
}

function schemaText(schema: unknown): string {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) {
    const kind = Array.isArray(schema) ? 'an array' : schema === null ? 'null' : `a ${typeof schema}`;
    throw new UnusableSchemaError(`The schema must be a JSON Schema, an object, but is ${kind}.`);
  }
  if (schema === false) throw new UnusableSchemaError('The schema is `false`, which no answer fits.');
  if (isDeeper(schema, MAX_SCHEMA_JSON_DEPTH)) {
    throw new UnusableSchemaError(
      `The schema is nested more than ${MAX_SCHEMA_JSON_DEPTH} levels of JSON deep, or is cyclic.`,
    );
  }
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) <= MAX_SCHEMA_BYTES) return text;
  throw new UnusableSchemaError(`The schema is larger than ${MAX_SCHEMA_BYTES} bytes.`);
}

function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((child) => isDeeper(child, limit - 1));
}

function compileContract(schema: unknown): CompiledContract {
  allowWork(WORK_FOR_SCHEMA);
  try {
    const { root, warnings } = normalizeSchema(schema);
    checkRecursion(root);
    const validators = lazyValidators(root);
    validators({ coerce: false, allFaults: false });
    const { wireSchema, wrapped } = toWireSchema(root);
    return {
      wireSchema,
      schema: root,
      wrapped,
      warnings,
      judge: (rawJson, truncated = false) => judgeAnswer(rawJson, { root, truncated, wrapped, validators }),
      accepts: (valueJson) => isStoredValueValid(valueJson, validators),
    };
  } catch (error) {
    if (error instanceof UnusableSchemaError) throw error;
    const why =
      error instanceof RangeError ? 'it is too large or too deeply linked' : (error as Error).message.slice(0, 300);
    throw new UnusableSchemaError(`The schema cannot be used: ${why}.`, { cause: error });
  }
}

/** Compiles a validator when it is first asked for: most answers are valid as they are, and need one only. */
function lazyValidators(root: SchemaNode): Validators {
  const made = new Map<string, Validator>();
  return (options) => {
    const key = `${options.coerce} ${options.allFaults}`;
    const validator = made.get(key) ?? compileValidator(root, options);
    made.set(key, validator);
    return validator;
  };
}
