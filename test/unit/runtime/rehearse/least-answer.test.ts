import { describe, expect, it } from 'vitest';
import { leastAnswer } from '../../../../runtime/rehearse/least-answer.ts';
import { createOutputContract } from '../../../../runtime/schema/output-contract.ts';

const least = (schema: unknown): unknown => {
  const json = leastAnswer(createOutputContract(schema));
  return json === undefined ? undefined : JSON.parse(json);
};

describe('leastAnswer', () => {
  it('is an empty text for a call without a schema (A-2)', () => {
    expect(leastAnswer(undefined)).toBe('""');
  });

  it('leaves out what may be absent, and gives the least of the rest', () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 2 },
        issues: { type: 'array', items: { type: 'string' } },
        score: { type: 'integer', minimum: 3 },
        sure: { type: 'boolean' },
        note: { type: 'string' },
        owner: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        level: { enum: ['high', 'low'] },
      },
      required: ['title', 'issues', 'score', 'sure', 'owner', 'level'],
    };
    expect(least(schema)).toEqual({ title: 'xx', issues: [], score: 3, sure: false, owner: null, level: 'low' });
  });

  it('follows references, and fills lists that must not be empty', () => {
    const schema = {
      $defs: { item: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
      type: 'array',
      items: { $ref: '#/$defs/item' },
      minItems: 2,
    };
    expect(least(schema)).toEqual([{ n: -1 }, { n: -1 }].map(() => ({ n: expect.any(Number) })));
  });

  it('is undefined when it finds no value that the schema accepts', () => {
    expect(least({ type: 'string', pattern: '^[0-9]{4}$' })).toBeUndefined();
    expect(least({ not: {} })).toBeUndefined();
  });
});
