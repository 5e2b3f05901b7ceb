import { describe, expect, it } from 'vitest';
import { createOutputContract, UnusableSchemaError } from '../../../../runtime/schema/output-contract.ts';

const person = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1, maximum: 10 }, name: { type: 'string', minLength: 2 } },
  required: ['n'],
};

function nest(levels: number): unknown {
  return levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nest(levels - 1) } };
}

/** Arrays around a number. */
function arrays(levels: number): string {
  return `${'['.repeat(levels)}1${']'.repeat(levels)}`;
}

function answerMessage(schema: unknown, raw: string, truncated = false): string {
  const verdict = createOutputContract(schema).judge(raw, truncated);
  return verdict.ok ? 'accepted' : verdict.message;
}

function answerTo(schema: unknown, raw: string): unknown {
  const verdict = createOutputContract(schema).judge(raw);
  return verdict.ok ? JSON.parse(verdict.valueJson) : verdict;
}

describe('a schema that cannot be used (A-8)', () => {
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.properties = { self: cyclic };
  it.each([
    ['a number', 5, 'is a number'],
    ['a text', 'x', 'is a string'],
    ['an array', [], 'is an array'],
    ['null', null, 'is null'],
    ['undefined', undefined, 'undefined'],
    ['false', false, 'no answer fits'],
    ['an unknown type', { type: 'nope' }, 'nope'],
    ['an empty list of types', { type: [] }, 'type'],
    ['a bad expression', { type: 'object', properties: { s: { pattern: '(' } } }, '"(" at s'],
    ['a bad expression as a key', { type: 'object', patternProperties: { '[': true } }, '"["'],
    ['lookahead', { type: 'string', pattern: '^(?=a)b' }, 'looks ahead'],
    ['negative lookbehind', { type: 'string', pattern: '(?<!a)b' }, 'looks behind'],
    ['a backreference', { type: 'string', pattern: '(a)\\1' }, 'backreference'],
    ['a named backreference', { type: 'string', pattern: '(?<q>a)\\k<q>' }, 'backreference'],
    ['a dangling reference', { properties: { a: { $ref: '#/$defs/none' } } }, '#/$defs/none'],
    ['a dangling anchor', { properties: { a: { $ref: '#none' } } }, '#none'],
    ['a remote reference', { $ref: 'https://example.com/x.json' }, 'https://example.com/x.json'],
    ['itself', { $ref: '#' }, 'refers to itself'],
    ['a reference in a circle', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }, 'itself'],
    ['an endless answer', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, 'endless'],
    ['required and forbidden', { properties: { a: {} }, required: ['b'], additionalProperties: false }, '"b"'],
    ['required and false', { properties: { a: false }, required: ['a'] }, '"a"'],
    ['bounds the wrong way round', { type: 'string', minLength: 3, maxLength: 2 }, 'minLength'],
    ['no allowed value', { enum: [] }, 'enum'],
    ['required as a flag', { properties: { a: { type: 'string', required: true } } }, 'beside `properties`'],
    ['properties as a list', { type: 'object', properties: [] }, 'properties'],
    ['a schema that is a text', { type: 'object', properties: { a: 'string' } }, 'string'],
    ['a cyclic object', cyclic, 'cyclic'],
    ['65 levels', nest(65), '64 deep'],
    ['more than 1 MiB', { description: 'x'.repeat(1024 * 1024) }, '1048576'],
  ])('is refused by name: %s', (_title, schema, word) => {
    expect(() => createOutputContract(schema)).toThrow(UnusableSchemaError);
    expect(() => createOutputContract(schema)).toThrow(word);
  });

  it('is no schema of 63 nested objects, of 1 MB, or with a forbidden key that a pattern allows (A-7)', () => {
    expect(createOutputContract(nest(63)).wrapped).toBe(false);
    expect(createOutputContract({ description: 'x'.repeat(1_000_000) }).wrapped).toBe(true);
    const byPattern = {
      type: 'object',
      patternProperties: { '^b': {} },
      required: ['bb'],
      additionalProperties: false,
    };
    expect(answerTo(byPattern, '{"bb":1}')).toEqual({ bb: 1 });
  });
});

describe('older drafts and leftovers (A-8)', () => {
  it.each([
    [
      'definitions',
      { properties: { a: { $ref: '#/definitions/T' } }, definitions: { T: { type: 'number' } } },
      '{"a":"x"}',
    ],
    ['nullable', { properties: { a: { type: 'string', nullable: true, minLength: 2 } } }, '{"a":"x"}'],
    [
      'items as a list',
      { properties: { a: { type: 'array', items: [{ type: 'number' }], additionalItems: false } } },
      '{"a":[1,2]}',
    ],
    [
      'exclusiveMinimum as a flag',
      { properties: { a: { type: 'number', minimum: 5, exclusiveMinimum: true } } },
      '{"a":5}',
    ],
    ['dependencies', { properties: { a: {} }, dependencies: { a: ['b'] } }, '{"a":1}'],
    ['$anchor', { properties: { a: { $ref: '#t' } }, $defs: { x: { $anchor: 't', type: 'number' } } }, '{"a":"x"}'],
    [
      '$id and a full reference',
      {
        $id: 'https://e.com/s',
        properties: { a: { $ref: 'https://e.com/s#/$defs/x' } },
        $defs: { x: { type: 'number' } },
      },
      '{"a":"x"}',
    ],
    [
      '$dynamicRef',
      { properties: { a: { $dynamicRef: '#t' } }, $defs: { x: { $dynamicAnchor: 't', type: 'number' } } },
      '{"a":"x"}',
    ],
    [
      'an escaped pointer',
      { properties: { a: { $ref: '#/$defs/x~1y%20z' } }, $defs: { 'x/y z': { type: 'number' } } },
      '{"a":"x"}',
    ],
  ])('%s is understood and enforced', (_title, schema, bad) => {
    const contract = createOutputContract({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      ...schema,
    });
    expect(contract.judge(bad).ok).toBe(false);
    expect(contract.judge('{}').ok).toBe(true);
  });

  it('null passes where `nullable` says so, with an enum as well', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', enum: ['x'], nullable: true } } };
    expect(answerTo(schema, '{"a":null}')).toEqual({ a: null });
  });

  it('unknown keywords and formats warn once and check nothing', () => {
    const made = { type: 'string', format: 'made-up', foo: 1 };
    const contract = createOutputContract({ type: 'object', properties: { a: made, b: made, 'x-c': { 'x-note': 1 } } });
    expect(contract.warnings).toEqual(['unknown format made-up', 'unknown keyword foo']);
    expect(contract.judge('{"a":"whatever"}').ok).toBe(true);
  });
});

describe('reading an answer (A-6)', () => {
  it('an illegal escape is told as bad JSON with its offset', () => {
    const message = answerMessage(person, '{"plan":"grep \\| x"}');
    expect(message).toContain('not valid JSON');
    expect(message).toContain('offset 14');
    expect(message).not.toMatch(/missing/);
  });

  it('a text that the output limit cut is told as such', () => {
    expect(answerMessage(person, '{"n": 1, "name": "abc', true)).toContain(
      'cut off by the output limit after 21 characters',
    );
    expect(answerMessage(person, '{"n": 1, "name": "abc')).not.toContain('output limit');
  });

  it('a JSON text of the object, or the object in one key, is unwrapped once', () => {
    expect(answerTo(person, '"{\\"n\\":5}"')).toEqual({ n: 5 });
    expect(answerTo(person, '{"input":{"n":6}}')).toEqual({ n: 6 });
    expect(answerTo(person, '{"input":{"input":{"n":6}}}')).toMatchObject({ ok: false });
    expect(answerTo(person, '{"input":{"n":6},"more":1}')).toMatchObject({ ok: false });
  });

  it('a property that the schema knows is no wrapper', () => {
    const schema = { type: 'object', properties: { x: { type: 'object', required: ['k'] } } };
    expect(answerMessage(schema, '{"x":{}}')).toContain('x: the property "k" is missing');
    expect(answerMessage({ $ref: '#/$defs/s', $defs: { s: { anyOf: [schema] } } }, '{"x":{}}')).not.toBe('accepted');
  });

  it('an object that fits as it stands is not unwrapped', () => {
    expect(answerTo({ type: 'object' }, '{"input":{"n":6}}')).toEqual({ input: { n: 6 } });
  });

  it('a wrapped root takes `value`, the bare value, and a text of either', () => {
    const list = { type: 'array', items: { type: 'number' } };
    for (const raw of ['{"value":[1,2]}', '[1,2]', '{"value":"[1,2]"}', '"[1,2]"', '{"items":[1,2]}']) {
      expect(answerTo(list, raw), raw).toEqual([1, 2]);
    }
    expect(answerTo({ type: 'string' }, '{"value":"[1,2]"}')).toBe('[1,2]');
    expect(answerMessage(list, '{}')).toContain('"value"');
  });

  it('a union with a key named value is read as the wire has it', () => {
    const union = {
      anyOf: [{ type: 'object', properties: { value: { type: 'number' } }, required: ['value'] }, { type: 'null' }],
    };
    expect(answerTo(union, '{"value":{"value":5}}')).toEqual({ value: 5 });
    expect(answerTo(union, '{"value":5}')).toEqual({ value: 5 });
    expect(answerTo(union, '{"value":null}')).toBeNull();
  });

  it('64 levels pass and 65 do not, and 16 MiB is the most (A-7)', () => {
    const any = { type: 'array' };
    expect(createOutputContract(any).judge(`{"value":${arrays(64)}}`).ok).toBe(true);
    expect(answerMessage(any, `{"value":${arrays(66)}}`)).toContain('64 deep');
    expect(answerMessage({ type: 'string' }, `"${'x'.repeat(16 * 1024 * 1024)}"`)).toContain('16777216 bytes');
    expect(answerMessage(any, '['.repeat(1_000_000))).toContain('64 deep');
  });

  it('a number that JSON cannot give back is refused', () => {
    expect(answerMessage({}, '{"value":1e999}')).toContain('too large');
    expect(answerMessage({ type: 'number' }, '{"value":"Infinity"}')).not.toBe('accepted');
  });
});

describe('validation (A-7)', () => {
  const types = {
    type: 'object',
    properties: { n: { type: 'number' }, b: { type: 'boolean' }, s: { type: 'string' } },
  };

  it('types are coerced where that is plain, and null never becomes a value', () => {
    expect(answerTo(types, '{"n":"7","b":"true","s":12}')).toEqual({ n: 7, b: true, s: '12' });
    expect(answerTo({ type: 'number' }, '{"value":"7"}')).toBe(7);
    for (const raw of ['{"s":null}', '{"n":null}', '{"b":null}', '{"n":true}', '{"n":"many"}']) {
      expect(answerMessage(types, raw), raw).toContain('must be');
    }
  });

  it('a value that fits one branch of a union is not coerced for another', () => {
    expect(answerTo({ oneOf: [{ type: 'number' }, { type: 'string' }] }, '{"value":"7"}')).toBe('7');
    expect(answerTo({ anyOf: [{ type: 'number' }, { type: 'null' }] }, '{"value":"7"}')).toBe(7);
  });

  it('keys keep their order (R-26)', () => {
    const verdict = createOutputContract(types).judge('{"z":1,"s":3,"a":{"y":1,"b":2},"n":"4"}');
    expect(verdict).toEqual({ ok: true, valueJson: '{"z":1,"s":"3","a":{"y":1,"b":2},"n":4}' });
  });

  it('names like those of Object.prototype are ordinary', () => {
    const schema = { type: 'object', properties: { constructor: { type: 'number' } }, required: ['constructor'] };
    expect(createOutputContract(schema).judge('{}').ok).toBe(false);
    expect(createOutputContract(schema).judge('{"constructor":1,"__proto__":2}')).toEqual({
      ok: true,
      valueJson: '{"constructor":1,"__proto__":2}',
    });
  });

  it.each([
    ['type', { type: 'integer' }, '"large"', 'x: must be an integer, but is the string "large"'],
    ['two types', { type: ['integer', 'null'] }, '"large"', 'x: must be an integer or null'],
    ['union of types', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, '"a"', 'x: must be an integer or null'],
    ['enum', { enum: ['a', 'b'] }, '"c"', 'x: must be one of "a", "b", but is the string "c"'],
    ['const', { const: 5 }, '6', 'x: must be 5'],
    ['minimum', { minimum: 3 }, '2', 'x: must be at least 3, but is the number 2'],
    ['exclusiveMaximum', { exclusiveMaximum: 3 }, '3', 'x: must be below 3'],
    ['multipleOf', { multipleOf: 3 }, '4', 'a multiple of 3'],
    ['minLength', { type: 'string', minLength: 3 }, '"é"', 'at least 3 characters, but has 1'],
    ['maxItems', { type: 'array', maxItems: 1 }, '[1,2]', 'at most 1 items, but has 2'],
    ['required', { type: 'object', required: ['k'] }, '{}', 'x: the property "k" is missing'],
    [
      'additionalProperties',
      { type: 'object', additionalProperties: false },
      '{"k":1}',
      'the property "k" is not allowed',
    ],
    [
      'unevaluatedProperties',
      { type: 'object', unevaluatedProperties: false },
      '{"k":1}',
      'the property "k" is not allowed',
    ],
    ['pattern', { type: 'string', pattern: '^a+$' }, '"b"', 'must match the pattern ^a+$'],
    ['format', { type: 'string', format: 'date' }, '"2024-02-30"', 'must have the format date'],
    ['uniqueItems', { type: 'array', uniqueItems: true }, '[{"a":1,"b":2},3,{"b":2,"a":1}]', '0 and 2 are equal'],
    [
      'oneOf twice',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      '1',
      'several of the allowed forms (0 and 1)',
    ],
    ['not', { not: { type: 'string' } }, '"a"', 'excludes'],
    ['contains', { type: 'array', contains: { const: 1 } }, '[2]', 'at least 1 fitting'],
    ['false', false, '1', 'x: is not allowed here'],
    [
      'dependentRequired',
      { type: 'object', dependentRequired: { a: ['b'] } },
      '{"a":1}',
      '"b" is missing, which "a" calls for',
    ],
    [
      'propertyNames',
      { type: 'object', propertyNames: { maxLength: 1 } },
      '{"ab":1}',
      'the property name "ab" is not allowed',
    ],
    ['if', { if: { const: 1 }, else: { const: 2 } }, '3', 'must be 2'],
    ['items after a tuple', { type: 'array', prefixItems: [{}], items: false }, '[1,2]', 'at most 1 items'],
    ['minProperties', { type: 'object', minProperties: 1 }, '{}', 'at least 1 properties'],
  ])('a fault of %s is told in plain words (A-5)', (_title, x, raw, words) => {
    expect(answerMessage({ type: 'object', properties: { x } }, `{"x":${raw}}`)).toContain(words);
  });

  it('a path names items, odd keys and the wrapper (A-5)', () => {
    const size = { type: 'object', properties: { size: { type: 'integer' }, 'a b': { type: 'null' } } };
    const raw = '[{"size":1},{"size":"large","a b":1}]';
    const message = answerMessage({ type: 'array', items: size }, `{"value":${raw}}`);
    expect(message).toContain('value[1].size: must be an integer');
    expect(message).toContain('value[1]["a b"]: must be null');
  });

  it('what the model is told is bounded: 20 lines, 2,000 characters', () => {
    const strings = { type: 'object', additionalProperties: { type: 'number' } };
    const long = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`k${at}${'x'.repeat(at)}`, 'y'.repeat(500)]),
    );
    const verdict = createOutputContract(strings).judge(JSON.stringify(long));
    expect(verdict.ok).toBe(false);
    if (verdict.ok) return;
    expect(verdict.errors.length).toBeLessThanOrEqual(20);
    expect(verdict.message.length).toBeLessThanOrEqual(2000);
    expect(verdict.errors.at(-1)).toMatch(/and \d+ more/);
  });

  it('characters of patterns and lengths are code points, white space is that of ECMA-262', () => {
    const one = { type: 'string', pattern: '^.$', maxLength: 1 };
    expect(answerTo(one, '{"value":"😀"}')).toBe('😀');
    expect(answerTo({ type: 'string', pattern: '^\\s\\S[\\s]$' }, '{"value":"\\u00a0x\\u3000"}')).toBe('\u00a0x\u3000');
    expect(answerMessage({ type: 'string', pattern: '^.$' }, '{"value":"\\u2028"}')).not.toBe('accepted');
    expect(
      answerTo({ type: 'string', pattern: '^\\p{Script=Greek}\\p{Letter}\\ud83d\\ude00$' }, '{"value":"αx😀"}'),
    ).toBe('αx😀');
    expect(answerTo({ type: 'string', pattern: '^\\_\\-$' }, '{"value":"_-"}')).toBe('_-');
  });
});

describe('stored values (R-15)', () => {
  it('fit as they stand, not wrapped, not coerced', () => {
    const list = createOutputContract({ type: 'array', items: { type: 'number' } });
    expect(list.accepts('[1,2]')).toBe(true);
    expect(list.accepts('{"value":[1,2]}')).toBe(false);
    expect(list.accepts('["1"]')).toBe(false);
    expect(list.accepts('[1')).toBe(false);
  });
});

describe('the cache', () => {
  it('equal schemas share a contract', () => {
    expect(createOutputContract({ type: 'number', title: 'x' })).toBe(
      createOutputContract({ type: 'number', title: 'x' }),
    );
    expect(createOutputContract({ type: 'number', title: 'x' })).not.toBe(
      createOutputContract({ type: 'number', title: 'y' }),
    );
  });
});
