import { resolve } from 'node:path';
import { readTextFile } from '../../hosts/saved-workflows/read-text-file.ts';
import { MODEL_PRICES } from '../../runtime/costs/model-prices.ts';
import { type PriceTable, readPriceTable } from '../../runtime/costs/price-table.ts';

/** Prices that were given, and the whole table that they make with those of this package. */
export interface GivenPrices {
  readonly given: unknown;
  readonly table: PriceTable;
}

/**
 * Reads the file of `--prices`, else takes what an earlier launch was given; undefined when neither is there.
 *
 * @throws FILE_… and USAGE_INVALID for a file that holds no prices
 */
export async function readPrices(
  file: string | undefined,
  stored: unknown,
  cwd: string,
): Promise<GivenPrices | undefined> {
  if (file !== undefined) {
    const text = await readTextFile(resolve(cwd, file), 'the file of --prices');
    const table = readPriceTable(text, `the file of --prices, ${file},`, MODEL_PRICES);
    return { given: JSON.parse(text), table };
  }
  if (stored === undefined) return undefined;
  return { given: stored, table: readPriceTable(JSON.stringify(stored), 'the stored table', MODEL_PRICES) };
}
