import { hash } from 'node:crypto';
import pLimit from 'p-limit';

/**
 * The yardstick: what any orchestrator must do for `count` instant agents, and nothing else. For each: a slot, the SHA-256
 * of its canonical JSON, one journal line built, one line parsed. No isolation, no file, no event.
 *
 * @returns wall time in milliseconds
 */
export async function plainLoop(count: number, concurrency: number): Promise<number> {
  const limit = pLimit(concurrency);
  const from = performance.now();
  const results = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      limit(async () => {
        const key = hash('sha256', JSON.stringify({ occurrence: 0, opts: {}, prompt: `item ${i}`, v: 1 }), 'hex');
        const row = JSON.stringify({ type: 'result', key: `v1:${key}`, result: 'ok', at: i });
        return (JSON.parse(row) as { result: string }).result;
      }),
    ),
  );
  if (results.length !== count) throw new Error('the plain loop lost items');
  return performance.now() - from;
}

const [count = '10000', concurrency = '64'] = process.argv.slice(2);
if (import.meta.main) console.log(JSON.stringify({ wallMs: await plainLoop(Number(count), Number(concurrency)) }));
