import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPlainResponsesFile } from '../../../../agents/scripted/is-plain-responses-file.ts';
import { responsesFileSchema } from '../../../../protocol/responses-file.ts';

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    'a',
    '(',
    null,
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    Infinity,
    true,
    [],
    {},
    { name: '' },
    { name: 'Read' },
  ),
  fc.constantFrom<unknown>({ status: 429 }, { status: 1.5 }, { input_tokens: 1 }, { input_tokens: -1 }, { other: 1 }, [
    { text: 'x' },
  ]),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Objects with members of the format and others, each of any value: near enough to a good one to come through at times. */
const anyObject = (members: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...members, 'txt', '__proto__', 'toString'), anyValue, { maxKeys: 2 });

const turn = fc.oneof(
  fc.record({ text: fc.string(), delayMs: fc.nat() }, { requiredKeys: ['text'] }),
  fc.record(
    { json: fc.jsonValue({ maxDepth: 1 }), usage: fc.constant({ output_tokens: 3 }) },
    { requiredKeys: ['json'] },
  ),
  fc.record({ raw: fc.string(), stop: fc.constant('max_tokens') }, { requiredKeys: ['raw'] }),
  fc.constantFrom<unknown>(
    { error: { status: 529, type: 'overloaded_error', message: 'm', retryAfterMs: 0.5 } },
    { tool: { name: 'Read', input: { file_path: 'a' } } },
    { silentMs: 5 },
    { blocks: [{ text: 'a' }, { json: null }, { tool: { name: 'Glob' } }] },
  ),
);
const badTurn = anyObject([
  'text',
  'json',
  'raw',
  'error',
  'tool',
  'silentMs',
  'blocks',
  'cut',
  'delayMs',
  'stop',
  'usage',
]);

const fileOf = (turns: fc.Arbitrary<unknown>, rules: fc.Arbitrary<unknown>) =>
  fc.record(
    { rules: fc.array(rules, { maxLength: 2 }), default: fc.array(turns, { maxLength: 2 }) },
    { requiredKeys: [] },
  );

const good = fc.record(
  {
    match: fc.constantFrom(null, '', '^a.*(b)$'),
    label: fc.string(),
    times: fc.integer({ min: 1, max: 9 }),
    reply: fc.array(turn, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['reply'] },
);

describe('the check of a responses file without its schema', () => {
  it('takes nothing that the schema refuses or changes (C-12)', () => {
    const any = fc.oneof(turn, badTurn);
    const anyRule = fc.oneof(good, anyObject(['match', 'label', 'times', 'reply']));
    let taken = 0;
    fc.assert(
      fc.property(
        fc.oneof(fileOf(any, anyRule), fileOf(any, good), anyObject(['rules', 'default']), anyValue),
        (file) => {
          if (!isPlainResponsesFile(file)) return;
          taken += 1;
          expect(responsesFileSchema.safeParse(file)).toEqual({ success: true, data: file });
        },
      ),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('takes what planned answers are made of, so that a usual run loads no schema (C-12)', () => {
    const usual = fc.array(good, { maxLength: 2 }).map((rules) => ({ rules }));
    fc.assert(fc.property(usual, (file) => isPlainResponsesFile(file)));
    expect(isPlainResponsesFile({ default: [{ text: 'ok' }] })).toBe(true);
    expect(isPlainResponsesFile({})).toBe(true);
  });
});
