import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { failedSandbox } from '../../../../runtime/sandbox/failed-sandbox.ts';
import { spawnSandbox } from '../../../../runtime/sandbox/spawn-sandbox.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { programOf, runInSandbox } from './run-in-sandbox.ts';

const OPTIONS = { memoryLimitMb: 256, cpuLimitMs: 30_000, maxItems: 10, budgetTotal: null, maxDepth: 1 };
const IGNORE = { agent() {}, workflow() {}, phase() {}, log() {}, partFailed() {} };

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a sandbox process', () => {
  it('is ended at once by kill(), even while the script spins, and as often as one likes (S-24)', async () => {
    const sandbox = spawnSandbox();
    const logged = Promise.withResolvers<void>();
    sandbox.run(programOf("log('spinning'); for (;;) {}", 's.js', undefined), OPTIONS, {
      ...IGNORE,
      log: () => logged.resolve(),
    });
    await logged.promise;
    const before = performance.now();
    sandbox.kill();
    sandbox.kill();
    expect(await sandbox.end).toEqual({ type: 'killed' });
    expect(performance.now() - before).toBeLessThan(200);
    await waitUntil(() => !isAlive(sandbox.pid as number));
  });

  it('can be killed before it was given a program, and takes none afterwards', async () => {
    const sandbox = spawnSandbox();
    sandbox.kill();
    await sandbox.ready;
    sandbox.run(programOf('return 1', 's.js', undefined), OPTIONS, IGNORE);
    sandbox.answer(1, { ok: true, valueJson: '1' }, 0);
    expect(await sandbox.end).toEqual({ type: 'killed' });
  });

  it('that cannot be started is reported as crashed, and nothing throws', async () => {
    const real = Object.getOwnPropertyDescriptor(process, 'execPath') as PropertyDescriptor;
    Object.defineProperty(process, 'execPath', { ...real, value: '/nowhere/node' });
    try {
      const sandbox = spawnSandbox();
      sandbox.run(programOf('return 1', 's.js', undefined), OPTIONS, IGNORE);
      expect(await sandbox.end).toMatchObject({
        type: 'crashed',
        message: expect.stringContaining('ENOENT') as string,
      });
    } finally {
      Object.defineProperty(process, 'execPath', real);
    }
    const failed = failedSandbox(new Error('No native build was found for linux\n    loaded from: x'));
    failed.run(programOf('return 1', 's.js', undefined), OPTIONS, IGNORE);
    failed.kill();
    await Promise.all([failed.ready, failed.settled()]);
    expect(await failed.end).toMatchObject({
      type: 'crashed',
      message: expect.stringMatching(/No native build.*linux\./) as string,
    });
  });

  it('is gone when its script has ended', async () => {
    const sandbox = spawnSandbox();
    sandbox.run(programOf('return 1', 's.js', undefined), OPTIONS, IGNORE);
    expect(await sandbox.end).toEqual({ type: 'returned', valueJson: '1', warnings: [] });
    await waitUntil(() => !isAlive(sandbox.pid as number));
  });

  it('is reported as crashed when something outside kills it (S-31)', async () => {
    const { end } = await runInSandbox("log('x'); await new Promise((r) => setTimeout(r, 60000))", {
      meanwhile: (sandbox) => void sandbox.ready.then(() => process.kill(sandbox.pid as number, 'SIGKILL')),
    });
    expect(end).toMatchObject({ type: 'crashed', message: expect.stringMatching(/SIGKILL.*resumed/s) as string });
  });

  it('leaves the signals of a terminal to its parent', async () => {
    const run = await runInSandbox("return await agent('x')", {
      agent: () => new Promise((resolve) => setTimeout(() => resolve({ ok: true, valueJson: '2' }), 150)),
      meanwhile: (sandbox) =>
        void sandbox.ready.then(() => {
          for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(sandbox.pid as number, signal);
        }),
    });
    expect(run.value).toBe(2);
  });

  it('drops answers to calls that are not open', async () => {
    const sandbox = spawnSandbox();
    const program = programOf("return [await agent('a'), await agent('b')]", 's.js', undefined);
    sandbox.run(program, OPTIONS, {
      ...IGNORE,
      agent: ({ id }) => {
        sandbox.answer(77, { ok: true, valueJson: '"foreign"' }, 0);
        sandbox.answer(id, { ok: true, valueJson: `${id}` }, 0);
        sandbox.answer(id, { ok: true, valueJson: '"again"' }, 0);
        sandbox.answerWorkflow(id, { ok: false, error: { name: 'Error', message: 'again', code: 'X' } });
      },
    });
    expect(await sandbox.end).toMatchObject({ valueJson: '[1,2]' });
  });

  it('hands large values through both ways', async () => {
    const text = '漢😀'.repeat(400_000);
    const run = await runInSandbox("const v = await agent('x'); return [v.length, v, args.length]", {
      args: text,
      agent: () => ({ ok: true, valueJson: JSON.stringify(text) }),
    });
    expect(run.value).toEqual([text.length, text, text.length]);
  });

  it('runs with another limit than the one it was made for', async () => {
    const { value } = await runInSandbox("return await agent('x')", { options: { memoryLimitMb: 512 } });
    expect(value).toBe('ok');
  });

  it('reports what the engine will not compile with its place in the author’s file (S-8)', async () => {
    const sandbox = spawnSandbox();
    const program = programOf('const a = 1', 'bad.js', undefined);
    sandbox.run({ ...program, code: program.code.replace('const a = 1', '\n  const a = ;') }, OPTIONS, IGNORE);
    expect(await sandbox.end).toMatchObject({
      type: 'threw',
      error: { name: 'SyntaxError', file: 'bad.js', line: 3, column: 13 },
    });
  });

  it('dies with its parent, however that dies, even while the script spins (S-31)', async () => {
    const source = `
      import { spawnSandbox } from ${JSON.stringify(new URL('../../../../runtime/sandbox/spawn-sandbox.ts', import.meta.url).href)};
      const program = ${JSON.stringify(programOf("log('spinning'); for (;;) {}", 's.js', undefined))};
      const sandbox = spawnSandbox();
      sandbox.run(program, ${JSON.stringify(OPTIONS)}, { agent() {}, log: () => console.log(sandbox.pid), phase() {}, workflow() {}, partFailed() {} });`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await waitUntil(() => !isAlive(pid));
  });
});
