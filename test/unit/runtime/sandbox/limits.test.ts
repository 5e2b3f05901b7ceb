import { describe, expect, it } from 'vitest';
import type { SandboxEnd } from '../../../../runtime/sandbox/sandbox.ts';
import { runInSandbox } from './run-in-sandbox.ts';

const cpu = { options: { cpuLimitMs: 250 } };

describe('CPU time without yielding (S-24)', () => {
  const LOOPS: Readonly<Record<string, string>> = {
    'before any await': 'for (;;) {}',
    'after an agent': "await agent('x'); for (;;) {}",
    'in microtasks': 'for (;;) await null',
    'in microtasks of several functions':
      'const f = async () => { for (;;) await null }; await Promise.all([f(), f()])',
    'in a timer': 'setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {})',
    'inside a catch that takes everything': 'for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }',
    'in toJSON of the result': 'return { toJSON() { for (;;) {} } }',
    'in a getter of an error': 'throw new (class extends Error { get message() { for (;;) {} } })()',
    'in a thenable': 'await { then() { for (;;) {} } }',
    'in a thunk': 'await parallel([() => { for (;;) {} }])',
    'in a regular expression': ";/^(a+)+$/.test('a'.repeat(60) + 'b')",
    'in the getter of a rejection that nobody handles':
      'Promise.reject({ get x() { for (;;) {} } }); for (;;) await null',
  };
  for (const [where, body] of Object.entries(LOOPS)) {
    it(`is limited ${where}`, async () => {
      const { end } = await runInSandbox(body, cpu);
      expect(end).toMatchObject({ type: 'limit', code: 'LIMIT_CPU' });
      expect((end as { message: string }).message).toMatch(/250 ms.*--cpu-limit-ms/s);
    });
  }

  it('starts anew with each yield', async () => {
    const run = await runInSandbox(
      `let n = 0
       const spin = () => { for (let i = 0; i < 3e7; i++) n += i % 3 }
       for (let i = 0; i < 12; i++) { spin(); await agent('yield ' + i) }
       return n > 0`,
      { options: { cpuLimitMs: 1000 } },
    );
    expect(run.end).toMatchObject({ type: 'returned', valueJson: 'true' });
  });
});

describe('memory (S-23)', () => {
  const small = { options: { memoryLimitMb: 32, cpuLimitMs: 60_000 } };
  const isMemory = (end: SandboxEnd): void => {
    expect(end).toMatchObject({ type: 'limit', code: 'LIMIT_MEMORY' });
    expect((end as { message: string }).message).toMatch(/memory.*32 MiB.*--memory-limit-mb/s);
  };

  it('is limited on the heap', async () => {
    isMemory((await runInSandbox('const a = []; for (;;) a.push(new Array(1000).fill(a.length))', small)).end);
  });

  it('is limited on the heap in a callback after an agent', async () => {
    isMemory((await runInSandbox("await agent('x').then(() => { const a = []; for (;;) a.push({ a }) })", small)).end);
  });

  it('is limited in buffers, outside the heap', async () => {
    isMemory((await runInSandbox('const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))', small)).end);
  });

  it('is limited when the engine aborts instead of saying so', async () => {
    isMemory((await runInSandbox("return 'x'.repeat(2 ** 27).split('').length", small)).end);
  });

  it('stays small when a script calls agent() for ever without waiting', async () => {
    const { end } = await runInSandbox("for (let i = 0; ; i++) agent('again ' + i).catch(() => {})", {
      ...small,
      agent: () => undefined,
    });
    isMemory(end);
  });

  it('stays small when a script logs for ever', async () => {
    const run = await runInSandbox("for (;;) { log('x'.repeat(500)); phase('a'); phase('b') }", cpu);
    expect(run.end).toMatchObject({ type: 'limit', code: 'LIMIT_CPU' });
    expect(run.logs).toHaveLength(1001);
    expect(run.phases.length).toBeLessThanOrEqual(10_000);
  });
});
