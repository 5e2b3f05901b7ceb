import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AnswerVerdict, OutputContract } from '../ports.ts';
import { schemaFromZod } from '../schema/from-zod.ts';
import { createOutputContract } from '../schema/output-contract.ts';

/** A schema that a library user registered under a name, so that scripts may say `schema: 'Name'`. */
export interface NamedSchema {
  /** What counts for the key and goes to the backend. */
  readonly jsonSchema: unknown;
  readonly output: OutputContract;
  /**
   * Applies defaults and transforms to a validated answer. JSON text in and out; the journal keeps what goes in.
   * Undefined for a plain JSON Schema.
   */
  readonly transform: ((valueJson: string) => string) | undefined;
}

export type NamedSchemas = ReadonlyMap<string, NamedSchema>;

export const NO_NAMED_SCHEMAS: NamedSchemas = new Map();

/**
 * Reads the `schemas` option: JSON Schemas or Zod schemas, 3 or 4.
 *
 * @throws WorkflowError `USAGE_INVALID` naming the schema that cannot be used
 */
export async function loadNamedSchemas(schemas: Readonly<Record<string, unknown>> | undefined): Promise<NamedSchemas> {
  if (schemas === undefined) return NO_NAMED_SCHEMAS;
  const loaded = await Promise.all(
    Object.entries(schemas).map(
      async ([name, schema]): Promise<[string, NamedSchema]> => [name, await load(name, schema)],
    ),
  );
  return new Map(loaded);
}

async function load(name: string, schema: unknown): Promise<NamedSchema> {
  try {
    const zod = await schemaFromZod(schema);
    if (zod === undefined) return { jsonSchema: schema, output: createOutputContract(schema), transform: undefined };
    const { jsonSchema, parse } = zod;
    return {
      jsonSchema,
      output: refined(createOutputContract(jsonSchema), parse),
      transform: (valueJson) => JSON.stringify(parse(JSON.parse(valueJson))),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new WorkflowError('USAGE_INVALID', `The schema "${name}" cannot be used: ${reason}`, { cause: error });
  }
}

/** Adds what JSON Schema cannot say: an answer that the Zod schema's own refinements refuse is sent back as well. */
function refined(contract: OutputContract, parse: (value: unknown) => unknown): OutputContract {
  const check = (valueJson: string): AnswerVerdict => {
    try {
      parse(JSON.parse(valueJson));
      return { ok: true, valueJson };
    } catch (error) {
      const message = error instanceof Error ? error.message.slice(0, 2000) : String(error);
      return { ok: false, message: `The value is refused: ${message}`, errors: [message] };
    }
  };
  return {
    ...contract,
    judge(rawJson, truncated) {
      const verdict = contract.judge(rawJson, truncated);
      return verdict.ok ? check(verdict.valueJson) : verdict;
    },
    accepts: (valueJson) => contract.accepts(valueJson) && check(valueJson).ok,
  };
}
