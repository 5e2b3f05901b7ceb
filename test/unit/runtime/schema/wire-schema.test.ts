import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createOutputContract } from '../../../../runtime/schema/output-contract.ts';
import { strictWireSchema } from '../../../../runtime/schema/wire-schema.ts';

const node = { type: 'object', properties: { next: { $ref: '#' } } };

describe('the schema on the wire (A-8)', () => {
  it.each([
    ['an array', { type: 'array' }],
    ['a text', { type: 'string' }],
    ['a union', { anyOf: [{ type: 'object' }, { type: 'null' }] }],
    ['an object with a union beside it', { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
    ['a nullable object', { type: ['object', 'null'], properties: { n: {} } }],
    ['a reference', { $ref: '#/$defs/T', $defs: { T: { type: 'object' } } }],
    ['anything', {}],
    ['true', true],
    ['a recursive array', { type: 'array', items: { $ref: '#' } }],
    [
      'a reference into the root',
      { type: 'array', prefixItems: [{ type: 'number' }], items: { $ref: '#/prefixItems/0' } },
    ],
  ])('%s is wrapped, and every reference leads somewhere', (_title, schema) => {
    const { wireSchema, wrapped } = createOutputContract(schema);
    expect(wrapped).toBe(true);
    expect(wireSchema).toMatchObject({ type: 'object', required: ['value'] });
    expect(Object.keys(wireSchema).filter((key) => /Of$/.test(key))).toEqual([]);
    expect(() => new Ajv2020({ strict: false }).compile(wireSchema)).not.toThrow();
  });

  it('an object goes as it is, also one that only speaks of its properties', () => {
    expect(createOutputContract(node)).toMatchObject({ wrapped: false, wireSchema: node });
    expect(createOutputContract({ properties: { a: {} } }).wireSchema).toEqual({
      type: 'object',
      properties: { a: {} },
    });
  });

  it('a reference to a wrapped root leads into $defs', () => {
    const { wireSchema } = createOutputContract({ type: 'array', items: { $ref: '#' } });
    expect(wireSchema.properties).toEqual({ value: { $ref: '#/$defs/root' } });
    expect(wireSchema.$defs).toEqual({ root: { type: 'array', items: { $ref: '#/$defs/root' } } });
  });

  it('nested definitions are hoisted to the root, unused ones dropped', () => {
    const inner = { $ref: '#/properties/a/$defs/T', $defs: { T: { type: 'number' }, unused: { type: 'null' } } };
    const { wireSchema } = createOutputContract({ type: 'object', properties: { a: inner } });
    expect(wireSchema.$defs).toEqual({ T: { type: 'number' } });
  });

  it('bounds that a wire may refuse stand in the description instead (A-7)', () => {
    const list = {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 10 },
      minItems: 3,
      description: 'Scores.',
    };
    const { wireSchema } = createOutputContract({
      type: 'object',
      properties: { list, one: { type: 'array', minItems: 1 } },
    });
    expect(wireSchema.properties).toEqual({
      list: {
        type: 'array',
        items: { type: 'integer', description: '(minimum 1, maximum 10)' },
        description: 'Scores. (at least 3 items)',
      },
      one: { type: 'array', minItems: 1 },
    });
  });

  it('a property that is named like a bound stays', () => {
    const { wireSchema } = createOutputContract({ type: 'object', properties: { minLength: { type: 'number' } } });
    expect(wireSchema.properties).toEqual({ minLength: { type: 'number' } });
  });
});

describe('the strict wire schema (A-8)', () => {
  it('forbids other properties at every depth', () => {
    const deep = {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'object', properties: { b: { type: 'null' } } } } },
    };
    expect(strictWireSchema(createOutputContract(deep).wireSchema)).toEqual({
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: { type: 'object', properties: { b: { type: 'null' } }, additionalProperties: false },
        },
      },
      additionalProperties: false,
    });
  });

  it('is not made where it would refuse what the author wants', () => {
    expect(strictWireSchema({ type: 'object', additionalProperties: { type: 'number' } })).toBeUndefined();
    expect(strictWireSchema({ type: 'object', properties: { a: { type: 'object' } } })).toBeUndefined();
  });
});
