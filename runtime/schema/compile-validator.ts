import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { canonicalText } from './canonical-text.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { meterSchema, WORK_KEYWORD } from './meter-schema.ts';
import { isSchemaObject, type SchemaNode, subschemasOf } from './schema-keywords.ts';
import { spendWork, WorkExhaustedError } from './work-meter.ts';

/** One fault as Ajv tells it. */
export type SchemaFault = ErrorObject;

/**
 * Checks `holder.value` and returns its faults, empty when it is valid. With `coerce`, types are changed in place, the
 * held value itself included.
 *
 * @throws WorkExhaustedError
 */
export type Validator = (holder: { value: unknown }) => readonly SchemaFault[];

export interface ValidatorOptions {
  readonly coerce: boolean;
  /** Go on after the first fault. */
  readonly allFaults: boolean;
}

const require = createRequire(import.meta.url);
const CHARACTERS_PER_WORK_UNIT = 8;
const CHARACTERS_READ_PER_WORK_UNIT = 128;
const FAULTS_COPIED_PER_WORK_UNIT = 16;
const MAX_FAULTS = 20_000;
const MAX_WIDTH_NESTED = 500;
/** Some formats are checked with a backtracking expression, so that only texts of a sane length reach it. */
const MAX_FORMAT_CHARACTERS = 2_048;
const UNBOUNDED_FORMATS: ReadonlySet<string> = new Set(['byte', 'binary', 'password']);

/**
 * Compiles a schema in normal form. The code of a validator that stops at the first fault is nested as deep as the
 * schema is wide; for a very wide one, a validator that goes on takes its place.
 *
 * @throws whatever Ajv throws when it cannot
 */
export function compileValidator(root: SchemaNode, options: ValidatorOptions): Validator {
  return compile(root, widthOf(root) > MAX_WIDTH_NESTED ? { ...options, allFaults: true } : options);
}

/** The most schemas that stand side by side. */
function widthOf(node: SchemaNode): number {
  if (typeof node === 'boolean') return 0;
  const below = subschemasOf(node);
  return below.reduce((widest, { child }) => Math.max(widest, widthOf(child)), below.length);
}

function compile(root: SchemaNode, options: ValidatorOptions): Validator {
  const validate = createAjv(options).compile(meterSchema(root)) as ValidateFunction;
  return (holder) => {
    const place = { parentData: holder, parentDataProperty: 'value', rootData: holder, instancePath: '' };
    return validate(holder.value, { ...place, dynamicAnchors: {} }) ? [] : (validate.errors ?? []);
  };
}

function createAjv({ coerce, allFaults }: ValidatorOptions): Ajv2020 {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    messages: false,
    logger: false,
    ownProperties: true,
    allErrors: allFaults,
    verbose: allFaults,
    coerceTypes: coerce,
    multipleOfPrecision: 9,
    loopRequired: 20,
    code: { regExp: linearRegExp, optimize: false },
  });
  addBoundedFormats(ajv);
  addWorkKeyword(ajv);
  addEnum(ajv);
  addUniqueItems(ajv);
  return ajv;
}

const linearRegExp = Object.assign((source: string) => compileLinearPattern(source, 'the schema'), {
  code: 'linearRegExp',
});

function addBoundedFormats(ajv: Ajv2020): void {
  const addFormats = require('ajv-formats') as typeof import('ajv-formats').default;
  addFormats(ajv, { mode: 'full', keywords: false });
  for (const [name, format] of Object.entries(ajv.formats)) {
    const test =
      format instanceof RegExp
        ? (text: string) => format.test(text)
        : isSchemaObject(format)
          ? format.validate
          : format;
    if (
      UNBOUNDED_FORMATS.has(name) ||
      typeof test !== 'function' ||
      (isSchemaObject(format) && format.type === 'number')
    )
      continue;
    ajv.addFormat(name, (text: string) => {
      if (text.length > MAX_FORMAT_CHARACTERS) return false;
      spendWork(1 + text.length);
      return (test as (text: string) => boolean)(text);
    });
  }
}

function addWorkKeyword(ajv: Ajv2020): void {
  const { _, Name } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const faultsSoFar = new Name('vErrors');
  ajv.addKeyword({
    keyword: WORK_KEYWORD,
    before: '$ref', // spent before anything is done
    code(context) {
      const { gen, schema, data } = context;
      const spend = gen.scopeValue('func', { ref: spendOn });
      const [cost, costPerKey] = schema as [number, number];
      gen.code(_`${spend}(${data}, ${cost}, ${costPerKey}, ${faultsSoFar})`);
    },
  });
}

/** Failed branches of a union leave faults behind, which are copied from schema to schema; so they count as well. */
function spendOn(value: unknown, cost: number, costPerKey: number, faults: readonly unknown[] | null): void {
  let units = cost;
  if (typeof value === 'string') units += value.length / CHARACTERS_READ_PER_WORK_UNIT;
  else if (costPerKey > 0 && isSchemaObject(value)) units += Object.keys(value).length * costPerKey;
  if (faults !== null) {
    if (faults.length > MAX_FAULTS) throw new WorkExhaustedError('too many faults');
    units += faults.length / FAULTS_COPIED_PER_WORK_UNIT;
  }
  spendWork(units);
}

/** `enum` by hash, since lists of values and of answers may both be long. */
function addEnum(ajv: Ajv2020): void {
  const { _ } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    compile(values: unknown[]) {
      const allowed = new Set(values.map(canonicalText));
      const longest = Math.max(...[...allowed].slice(0, 10_000).map((text) => text.length), 0);
      return (value: unknown) => {
        if (typeof value === 'string' && allowed.size <= 10_000 && value.length > longest) return false;
        return allowed.has(canonicalText(value));
      };
    },
    error: { message: '', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
  });
}

/** `uniqueItems` in one pass. */
function addUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: 'full',
    compile(wanted: boolean) {
      const check = Object.assign(
        (items: unknown) => {
          const twins = wanted ? findTwins(items as unknown[]) : undefined;
          if (twins === undefined) return true;
          check.errors = [{ keyword: 'uniqueItems', params: twins }];
          return false;
        },
        { errors: [] as Partial<ErrorObject>[] },
      );
      return check;
    },
  });
}

function findTwins(items: readonly unknown[]): { readonly i: number; readonly j: number } | undefined {
  const seen = new Map<string, number>();
  for (const [j, item] of items.entries()) {
    const text = canonicalText(item);
    spendWork(1 + text.length / CHARACTERS_PER_WORK_UNIT);
    const i = seen.get(text);
    if (i !== undefined) return { i, j };
    seen.set(text, j);
  }
  return undefined;
}
