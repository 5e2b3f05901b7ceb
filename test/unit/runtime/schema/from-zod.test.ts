import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod/v3';
import { schemaFromZod } from '../../../../runtime/schema/from-zod.ts';
import { createOutputContract } from '../../../../runtime/schema/output-contract.ts';

const shapes = [
  [
    '4',
    z.object({ a: z.string().default('none'), n: z.string().transform((text) => text.length), k: z.enum(['x', 'y']) }),
  ],
  [
    '3',
    z3.object({
      a: z3.string().default('none'),
      n: z3.string().transform((text) => text.length),
      k: z3.enum(['x', 'y']),
    }),
  ],
] as const;

describe('a Zod schema (A-9)', () => {
  it.each(shapes)(
    'of version %s is converted on its input side, and parses with defaults and transforms',
    async (_version, schema) => {
      const conversion = await schemaFromZod(schema);
      const contract = createOutputContract(conversion?.jsonSchema);
      expect(contract.judge('{"n":"four","k":"z"}').ok).toBe(false);
      expect(contract.judge('{"n":"four","k":"x"}')).toEqual({ ok: true, valueJson: '{"n":"four","k":"x"}' });
      expect(conversion?.parse({ n: 'four', k: 'x' })).toEqual({ a: 'none', n: 4, k: 'x' });
    },
  );

  it('of the small build is converted too', async () => {
    const conversion = await schemaFromZod(mini.object({ a: mini.string() }));
    expect(conversion?.jsonSchema).toMatchObject({ type: 'object', required: ['a'] });
  });

  it('that refers to itself is converted', async () => {
    const tree = z.object({
      v: z.number(),
      get kids() {
        return z.array(tree);
      },
    });
    const conversion = await schemaFromZod(tree);
    const contract = createOutputContract(conversion?.jsonSchema);
    expect(contract.judge('{"v":1,"kids":[{"v":2,"kids":[]}]}').ok).toBe(true);
    expect(contract.judge('{"v":1,"kids":[{"v":"x","kids":[]}]}').ok).toBe(false);
  });

  it.each([
    ['a function', z.object({ f: z.function() })],
    ['a date', z.date()],
    ['a map', z.object({ m: z.map(z.string(), z.number()) })],
    ['a function of version 3', z3.object({ f: z3.function() })],
    ['a date of version 3', z3.object({ d: z3.date() })],
    ['a symbol of version 3', z3.symbol()],
  ])('with %s has no JSON Schema and is refused', async (_title, schema) => {
    await expect(schemaFromZod(schema)).rejects.toThrow(/Zod/);
  });

  it.each([
    ['4', z.any()],
    ['4', z.unknown()],
    ['3', z3.any()],
  ])('of version %s that takes anything may be empty', async (_version, schema) => {
    const conversion = await schemaFromZod(schema);
    expect(createOutputContract(conversion?.jsonSchema).judge('{"value":[1]}').ok).toBe(true);
  });

  it.each([[{ type: 'object' }], [null], [5], ['x'], [undefined], [{ parse: () => 1 }]])('is not %j', async (value) => {
    expect(await schemaFromZod(value)).toBeUndefined();
  });
});
