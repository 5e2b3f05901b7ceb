import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentUsage } from '../ports.ts';

/** US dollars a million tokens. */
export interface TokenPrices {
  /** Of tokens that the provider's cache has no part in. */
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
}

export interface ModelPrice extends TokenPrices {
  /** Prices of a whole request whose prompt, cache included, has more tokens than this. */
  readonly long?: TokenPrices & { readonly abovePromptTokens: number };
}

export interface PriceTable {
  /** Day on which the prices held, as `2026-11-30`. */
  readonly asOf: string;
  /** By id. A name that ends in `*` stands for all ids that begin like it. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

/** Endings of an id that name a snapshot or a variant of the same model. */
const VARIANT = /(?:[-@]\d{8}|\[1m\])+$/;
const MILLION = 1_000_000;

/** Finds the price of a model by its id; undefined when none is known. The longest name that fits counts. */
export function priceOf({ models }: PriceTable, model: string): ModelPrice | undefined {
  for (const id of [model, model.replace(VARIANT, '')]) {
    if (Object.hasOwn(models, id)) return models[id];
  }
  const patterns = Object.keys(models).filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)));
  const longest = patterns.sort((one, other) => other.length - one.length)[0];
  return longest === undefined ? undefined : models[longest];
}

/** What the usage of one request costs, in US dollars. */
export function costOf(price: ModelPrice, usage: AgentUsage): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const rate = price.long !== undefined && inputTokens > price.long.abovePromptTokens ? price.long : price;
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const sum =
    uncached * rate.input +
    outputTokens * rate.output +
    cacheReadTokens * rate.cacheRead +
    cacheWriteTokens * rate.cacheWrite;
  return sum / MILLION;
}

/**
 * Reads a file of prices: `{"asOf": "2026-11-30", "models": {"some-model": {"input": 2, "output": 10}}}`. Prices of the
 * cache may be left out; they are then those of the input. What it does not name keeps the price of `base`.
 *
 * @param where the file, for the message
 * @throws WorkflowError `USAGE_INVALID`
 */
export function readPriceTable(text: string, where: string, base: PriceTable): PriceTable {
  const fault = (what: string): WorkflowError =>
    new WorkflowError(
      'USAGE_INVALID',
      `${where} is no file of prices: ${what}. It holds US dollars a million tokens, as {"asOf":"2026-11-30","models":{"some-model":{"input":2,"output":10}}}.`,
    );
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw fault(error instanceof Error ? error.message : 'it is no JSON');
  }
  const { asOf, models } = memberOf(file);
  if (typeof asOf !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(asOf)) throw fault('"asOf" must be a day, as 2026-11-30');
  if (typeof models !== 'object' || models === null || Array.isArray(models)) throw fault('"models" must be an object');
  const given = Object.entries(models).map(([id, price]) => [id, readPrice(price, (what) => fault(`${id}: ${what}`))]);
  return { asOf, models: { ...base.models, ...Object.fromEntries(given) } };
}

function readPrice(told: unknown, fault: (what: string) => WorkflowError): ModelPrice {
  const long = memberOf(told).long;
  const prices = readTokenPrices(told, fault);
  if (long === undefined) return prices;
  const { abovePromptTokens } = memberOf(long);
  if (!isAmount(abovePromptTokens)) throw fault('"long.abovePromptTokens" must be a number of tokens');
  return { ...prices, long: { ...readTokenPrices(long, fault), abovePromptTokens } };
}

function readTokenPrices(told: unknown, fault: (what: string) => WorkflowError): TokenPrices {
  const { input, output, cacheWrite = input, cacheRead = input } = memberOf(told);
  for (const [name, amount] of Object.entries({ input, output, cacheWrite, cacheRead })) {
    if (!isAmount(amount)) throw fault(`"${name}" must be a number, 0 or more`);
  }
  return { input, output, cacheWrite, cacheRead } as TokenPrices;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function memberOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
