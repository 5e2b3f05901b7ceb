import { describe, expect, it } from 'vitest';
import { resolveModel } from '../../../../agents/anthropic/models.ts';
import { MODEL_PRICES } from '../../../../runtime/costs/model-prices.ts';
import { costOf, type ModelPrice, priceOf, readPriceTable } from '../../../../runtime/costs/price-table.ts';

const PRICE = { input: 2, output: 10, cacheWrite: 2.5, cacheRead: 0.1 };

function price(model: string): ModelPrice {
  const found = priceOf(MODEL_PRICES, model);
  if (found === undefined) throw new Error(`no price of ${model}`);
  return found;
}

describe('the prices of this package', () => {
  it('have a day, and are those that one would pay (A-16)', () => {
    expect(MODEL_PRICES.asOf).toMatch(/^20\d\d-\d\d-\d\d$/);
    for (const { input, output, cacheWrite, cacheRead } of Object.values(MODEL_PRICES.models)) {
      expect(output).toBeGreaterThan(input);
      expect(cacheWrite).toBeGreaterThan(input);
      expect(cacheRead).toBeLessThan(input);
    }
  });

  it.each(['haiku', 'sonnet', 'opus'])('know what %s stands for (A-25)', (alias) => {
    expect(price(resolveModel(alias)).input).toBeGreaterThan(0);
  });

  it('take a snapshot or a long context of a model for the model, and nothing else (A-16)', () => {
    expect(price('claude-haiku-4-5-20251001')).toBe(price('claude-haiku-4-5'));
    expect(price('claude-opus-4-5@20251101')).toBe(price('claude-opus-4-5'));
    expect(price('claude-sonnet-5-5[1m]')).toBe(price('claude-sonnet-5-5'));
    expect(['claude-opus-9', 'gpt-7', 'toString', ''].map((model) => priceOf(MODEL_PRICES, model))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('the cost of a request', () => {
  it('counts each token once, at its own price (A-16)', () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cacheReadTokens: 600_000,
      cacheWriteTokens: 200_000,
    };
    expect(costOf(PRICE, usage)).toBeCloseTo(0.2 * 2 + 0.1 * 10 + 0.6 * 0.1 + 0.2 * 2.5, 9);
  });

  it('is that of a long prompt above its bound, cache included (A-16)', () => {
    const long = { ...PRICE, input: 4, output: 20, abovePromptTokens: 1000 };
    const usage = { outputTokens: 0, cacheReadTokens: 900 };
    expect(costOf({ ...PRICE, long }, { ...usage, inputTokens: 1000 }) * 1e6).toBeCloseTo(100 * 2 + 900 * 0.1, 6);
    expect(costOf({ ...PRICE, long }, { ...usage, inputTokens: 1001 }) * 1e6).toBeCloseTo(101 * 4 + 900 * 0.1, 6);
  });
});

describe('a file of prices', () => {
  const base = { asOf: '2026-01-01', models: { one: PRICE } };
  const read = (file: unknown) => readPriceTable(JSON.stringify(file), 'the file', base);

  it('replaces and adds; prices of the cache default to that of the input (A-16)', () => {
    const table = read({
      asOf: '2026-02-03',
      models: { two: { input: 1, output: 2 }, 'lab-*': { ...PRICE, input: 0 } },
    });
    expect(table.asOf).toBe('2026-02-03');
    expect(priceOf(table, 'one')).toEqual(PRICE);
    expect(priceOf(table, 'two')).toEqual({ input: 1, output: 2, cacheWrite: 1, cacheRead: 1 });
    expect(priceOf(table, 'lab-7')).toEqual({ ...PRICE, input: 0 });
  });

  it('may hold patterns, of which the longest counts (A-16)', () => {
    const table = read({
      asOf: '2026-02-03',
      models: { '*': { input: 1, output: 1 }, 'lab-*': { input: 2, output: 2 }, 'lab-7': { input: 3, output: 3 } },
    });
    expect(['lab-7', 'lab-8', 'other'].map((model) => priceOf(table, model)?.input)).toEqual([3, 2, 1]);
  });

  it.each([
    ['{', /no file of prices/],
    ['[]', /"asOf"/],
    ['{"asOf":"today","models":{}}', /"asOf" must be a day/],
    ['{"asOf":"2026-01-01","models":[]}', /"models"/],
    ['{"asOf":"2026-01-01","models":{"m":{"input":1}}}', /m: "output" must be a number/],
    ['{"asOf":"2026-01-01","models":{"m":{"input":-1,"output":1}}}', /m: "input" must be a number, 0 or more/],
    ['{"asOf":"2026-01-01","models":{"m":{"input":1,"output":1,"long":{"input":1,"output":1}}}}', /abovePromptTokens/],
  ])('%s is refused with what is wrong (C-10)', (text, reason) => {
    expect(() => readPriceTable(text, 'the file', base)).toThrow(reason);
    expect(() => readPriceTable(text, 'the file', base)).toThrow(expect.objectContaining({ code: 'USAGE_INVALID' }));
  });
});
