import { describe, expect, it } from 'vitest';
import { spawnSandbox } from '../../../../runtime/sandbox/spawn-sandbox.ts';
import { programOf, saying } from './run-in-sandbox.ts';

const OPTIONS = { memoryLimitMb: 256, cpuLimitMs: 30_000, maxItems: 10, budgetTotal: null, maxDepth: 1 };
/** Large, so that its compilation takes a while. */
const CHILD = `export const meta = { name: 'c', description: 'd' }
const table = [${"{ n: 'x', list: [1, 2, 3] },".repeat(15_000)}]
await agent('in the child')`;

/** Starts a script and keeps the prompts of its calls and the ids of its nested workflows. */
async function start(text: string) {
  const sandbox = spawnSandbox();
  const prompts: string[] = [];
  const nested: number[] = [];
  sandbox.run(programOf(text, 's.js', undefined), OPTIONS, {
    agent: (call) => prompts.push(call.prompt),
    workflow: (call) => nested.push(call.id),
    phase() {},
    log() {},
    partFailed() {},
  });
  await sandbox.ready;
  return { sandbox, prompts, nested };
}

describe('settled()', () => {
  it('resolves once the script has said all that the answers so far let it say, and not before', async () => {
    const { sandbox, prompts } = await start(`
      await Promise.all([1, 2].map(async (n) => {
        await agent('first ' + n)
        for (let i = 0; i < 2000; i++) await null
        await agent('second ' + n)
      }))`);
    await sandbox.settled();
    expect(prompts).toEqual(['first 1', 'first 2']);
    sandbox.answer(2, saying('x'), 0);
    await sandbox.settled();
    expect(prompts).toEqual(['first 1', 'first 2', 'second 2']);
    sandbox.answer(1, saying('x'), 0);
    await Promise.all([sandbox.settled(), sandbox.settled()]);
    expect(prompts).toEqual(['first 1', 'first 2', 'second 2', 'second 1']);
    sandbox.kill();
  });

  it('waits for the first turn of a nested workflow', async () => {
    const { sandbox, prompts, nested } = await start("await workflow('child')");
    await sandbox.settled();
    expect(nested).toEqual([1]);
    sandbox.answerWorkflow(1, { ok: true, program: programOf(CHILD, 'c.js', undefined), name: 'child' });
    await sandbox.settled();
    expect(prompts).toEqual(['in the child']);
    sandbox.kill();
  });

  it('resolves at the end of the script, and at once afterwards', async () => {
    const { sandbox } = await start("await agent('only')");
    await sandbox.settled();
    sandbox.answer(1, saying('x'), 0);
    await sandbox.settled();
    expect((await sandbox.end).type).toBe('returned');
    await sandbox.settled();
  });

  it('resolves when the sandbox is killed while the script spins', async () => {
    const { sandbox } = await start("await agent('only'); for (;;) {}");
    await sandbox.settled();
    sandbox.answer(1, saying('x'), 0);
    const settled = sandbox.settled();
    sandbox.kill();
    await settled;
  });
});
