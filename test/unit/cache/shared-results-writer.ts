/** A process that puts thirty results at once, for the test of many writers: `node shared-results-writer.ts ROOT NAME`. */
import { createSharedResults } from '../../../cache/shared-results.ts';

const [root = '', by = ''] = process.argv.slice(2);
const store = createSharedResults({ root });
const puts = Array.from({ length: 30 }, (_, id) => {
  const valueJson = JSON.stringify({ id, by, text: 'x'.repeat(500) });
  return store.put(`id ${id}`, { valueJson, attempts: 0 }, { key: `v1:${id}`, backend: 'test', model: null });
});
await Promise.all(puts);
