import { UnusableSchemaError } from './unusable-schema-error.ts';

/** A Zod schema as the runtime uses it. */
export interface ZodConversion {
  /** JSON Schema of what is put in: before defaults and transforms. */
  readonly jsonSchema: unknown;
  /** Applies defaults, refinements and transforms. Throws a ZodError. */
  parse(value: unknown): unknown;
}

/**
 * Converts a Zod schema, version 3 or 4, to JSON Schema on its input side. Undefined when `value` is none.
 *
 * @throws UnusableSchemaError when part of it has no JSON Schema, such as a function
 */
export async function schemaFromZod(value: unknown): Promise<ZodConversion | undefined> {
  if (isZod4(value)) return fromZod4(value);
  if (isZod3(value)) return fromZod3(value);
  return undefined;
}

interface Parses {
  parse(value: unknown): unknown;
}
type Zod4 = Parses & { readonly _zod: { readonly def: { readonly type: string } } };
type Zod3 = Parses & { readonly _def: { readonly typeName: string } };

function isZod4(value: unknown): value is Zod4 {
  return (
    typeof Reflect.get(Object(value), '_zod') === 'object' && typeof Reflect.get(Object(value), 'parse') === 'function'
  );
}

function isZod3(value: unknown): value is Zod3 {
  const definition: unknown = Reflect.get(Object(value), '_def');
  return (
    /^Zod/.test(String(Reflect.get(Object(definition), 'typeName'))) &&
    typeof Reflect.get(Object(value), 'parse') === 'function'
  );
}

/** Types that any value fits, so that `{}` is the right schema. */
const UNCONSTRAINED: ReadonlySet<string> = new Set(['any', 'unknown', 'ZodAny', 'ZodUnknown']);
/** Types that stand for the one they hold. */
const TRANSPARENT: ReadonlySet<string> = new Set([
  ...['optional', 'nullable', 'default', 'prefault', 'catch', 'readonly', 'pipe', 'lazy', 'nonoptional', 'promise'],
  ...[
    'ZodOptional',
    'ZodNullable',
    'ZodDefault',
    'ZodCatch',
    'ZodReadonly',
    'ZodPipeline',
    'ZodLazy',
    'ZodEffects',
    'ZodBranded',
  ],
]);

/** Types that the converter describes although they refuse every JSON value. */
const NOT_JSON_IN_ZOD_3: ReadonlySet<string> = new Set(['ZodDate', 'ZodBigInt', 'ZodMap', 'ZodSet']);

async function fromZod4(schema: Zod4): Promise<ZodConversion> {
  const { toJSONSchema } = await import('zod');
  try {
    const jsonSchema = toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], {
      io: 'input',
      target: 'draft-2020-12',
      override: ({ zodSchema, jsonSchema: part }) => refuseEmpty(zodSchema._zod.def.type, part),
    });
    return { jsonSchema, parse: (value) => schema.parse(value) };
  } catch (error) {
    throw notConvertible(error);
  }
}

async function fromZod3(schema: Zod3): Promise<ZodConversion> {
  const { zodToJsonSchema } = await import('zod-to-json-schema');
  try {
    const jsonSchema = zodToJsonSchema(schema as unknown as Parameters<typeof zodToJsonSchema>[0], {
      $refStrategy: 'root',
      pipeStrategy: 'input',
      effectStrategy: 'input',
      removeAdditionalStrategy: 'strict',
      postProcess: (part, definition) => {
        const type = String(Reflect.get(definition, 'typeName'));
        refuseEmpty(type, part ?? {});
        if (NOT_JSON_IN_ZOD_3.has(type) && Reflect.get(definition, 'coerce') !== true) throw noJsonSchema(type);
        return part;
      },
    });
    return { jsonSchema, parse: (value) => schema.parse(value) };
  } catch (error) {
    throw notConvertible(error);
  }
}

/** A converter that meets a type it does not know, or one of another Zod, gives `{}`, which would let anything pass. */
function refuseEmpty(type: string, part: object): void {
  if (UNCONSTRAINED.has(type) || TRANSPARENT.has(type)) return;
  const says = Object.keys(part).some((keyword) => keyword !== '$schema' && keyword !== 'description');
  if (!says) throw noJsonSchema(type);
}

function noJsonSchema(type: string): UnusableSchemaError {
  return new UnusableSchemaError(`The Zod type \`${type}\` takes no JSON value, so no answer could fit it.`);
}

function notConvertible(error: unknown): UnusableSchemaError {
  if (error instanceof UnusableSchemaError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new UnusableSchemaError(`The Zod schema cannot be written as JSON Schema: ${reason.slice(0, 300)}`, {
    cause: error,
  });
}
