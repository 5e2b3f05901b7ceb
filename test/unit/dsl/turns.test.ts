import { describe, expect, it } from 'vitest';
import { runInSandbox } from '../runtime/sandbox/run-in-sandbox.ts';

describe('rejections that nobody handles', () => {
  it('are warnings with their line at the end of the run (S-26)', async () => {
    const run = await runInSandbox(`Promise.reject(new Error('one'))
await agent('x')
const forgotten = (async () => { throw new TypeError('two') })()
await agent('y')
Promise.reject({ three: 3 })
return 'done'`);
    expect(run.value).toBe('done');
    expect(run.logs).toEqual([
      'warn: A promise was rejected and nobody handled it: Error: one (script.js:2:16)',
      'warn: A promise was rejected and nobody handled it: TypeError: two (script.js:4:40)',
      'warn: A promise was rejected and nobody handled it: an object that is not an Error',
    ]);
  });

  it('are each told when several agents fail at once (S-26)', async () => {
    const run = await runInSandbox("agent('a'); agent('b')\nagent('c'); await agent('last')", {
      agent: ({ prompt }) =>
        prompt === 'last'
          ? { ok: true, valueJson: 'null' }
          : { ok: false, error: { name: 'Error', code: 'AGENT_API', message: `no ${prompt}` } },
    });
    expect(run.logs.map((line) => /no \w/.exec(line)?.[0])).toEqual(['no a', 'no b', 'no c']);
  });

  it('are nothing when a handler comes later, by await, then, or Promise.all (S-27)', async () => {
    const run = await runInSandbox(`
      const awaited = Promise.reject(new Error('a')); await agent('1')
      const chained = (async () => { throw new Error('b') })(); await agent('2')
      const all = Promise.reject(new Error('c')); await agent('3')
      const settled = Promise.reject(new Error('d')); await agent('4')
      await agent('between')
      const out = []
      try { await awaited } catch (e) { out.push(e.message) }
      await chained.catch((e) => out.push(e.message))
      await Promise.all([all]).catch((e) => out.push(e.message))
      out.push((await Promise.allSettled([settled]))[0].status)
      return out`);
    expect(run.value).toEqual(['a', 'b', 'c', 'rejected']);
    expect(run.logs).toEqual([]);
  });

  it('are told when the run fails or is stuck, too (S-25, S-26)', async () => {
    const threw = await runInSandbox("Promise.reject(new Error('floating')); await agent('x'); throw new Error('end')");
    expect(threw.end).toMatchObject({ type: 'threw', error: { message: 'end' } });
    expect(threw.logs.join()).toContain('floating');
    const stuck = await runInSandbox("Promise.reject(new Error('floating')); await new Promise(() => {})");
    expect(stuck.end).toEqual({ type: 'deadlock' });
    expect(stuck.logs.join()).toContain('floating');
  });
});

describe('the end of a script', () => {
  it('stands although microtasks or timers are left behind (S-33, S-19)', async () => {
    const run = await runInSandbox(`
      setTimeout(() => log('late'), 100000)
      ;(async () => { for (;;) await null })()
      return 'stands'`);
    expect(run.value).toBe('stands');
    expect(run.logs).toEqual([]);
  });

  it('drops what a left-over microtask says (S-33)', async () => {
    const run = await runInSandbox(`
      ;(async () => { for (let i = 0; i < 50; i++) await null; log('late'); agent('late') })()
      await null
      return 1`);
    expect([run.value, run.logs, run.agents]).toEqual([1, [], []]);
  });

  it('is a deadlock when nothing is in flight and no timer is left (S-25)', async () => {
    const run = await runInSandbox("setTimeout(() => {}, 10); await agent('x'); await new Promise(() => {})");
    expect(run.end).toEqual({ type: 'deadlock' });
  });

  it('comes from a timer or a microtask that throws (S-19)', async () => {
    for (const body of [
      "setTimeout(() => { throw new Error('boom') }, 5)",
      "queueMicrotask(() => { throw new Error('boom') })",
    ]) {
      const { end } = await runInSandbox(`\n${body}\nawait agent('never')`, { agent: () => undefined });
      expect(end).toMatchObject({ type: 'threw', error: { message: 'boom', line: 3 } });
    }
  });
});

describe('timers', () => {
  it('run in the order in which they are due, each with its microtasks before the next (S-19)', async () => {
    const run = await runInSandbox(`
      const seen = []
      await new Promise((resolve) => {
        setTimeout(resolve, 60)
        setTimeout(() => seen.push('c'), 30)
        setTimeout(() => { seen.push('a'); Promise.resolve().then(() => seen.push('a+')) }, 1)
        setTimeout((...values) => seen.push('b', ...values), 1, 1, 2)
        clearTimeout(setTimeout(() => seen.push('never'), 1)); clearTimeout('nonsense'); clearTimeout(null)
        setTimeout(() => seen.push('nan'), NaN)
      })
      return seen`);
    expect(run.value).toEqual(['a', 'a+', 'b', 1, 2, 'nan', 'c']);
  });

  it('that are due together wait for one another’s microtasks only, not for a millisecond each (S-19)', async () => {
    const startedAt = performance.now();
    const run = await runInSandbox(
      'let ran = 0; for (let i = 0; i < 8000; i++) setTimeout(() => ran++, 1); await new Promise((r) => setTimeout(r, 2)); return ran',
    );
    expect(run.value).toBe(8000);
    expect(performance.now() - startedAt).toBeLessThan(8000);
  });

  it('wait as long as a day without a limit on waiting (S-24)', async () => {
    const run = await runInSandbox('setTimeout(() => {}, 1e12); return await agent("x")', {
      options: { cpuLimitMs: 500 },
    });
    expect(run.value).toBe('ok');
  });
});

describe('the order of what a script does', () => {
  it('is kept across logs, agents, phases and parts', async () => {
    const run = await runInSandbox(`
      phase('P'); agent('1').catch(() => {}); log('a'); agent('2'); console.warn('b')
      await parallel([() => { throw new Error('x') }, () => agent('3')])
      phase('Q'); log('c')`);
    expect(run.order).toEqual([
      ...['phase P', 'agent 1', 'log a', 'agent 2', 'log b'],
      ...['log parallel: item 0 failed: Error: x (script.js:4:37)', 'part 0', 'agent 3', 'phase Q', 'log c'],
    ]);
  });

  it('shows a log line at once, although the script never yields again (S-15)', async () => {
    const run = await runInSandbox("log('before the loop'); for (;;) {}", { options: { cpuLimitMs: 200 } });
    expect(run.end).toMatchObject({ type: 'limit', code: 'LIMIT_CPU' });
    expect(run.logs).toEqual(['info: before the loop']);
  });

  it('keeps a thousand lines, cut, and says so (S-15)', async () => {
    const run = await runInSandbox(
      "log('x'.repeat(9999) + '😀' + 'y'.repeat(50)); for (let i = 1; i < 5000; i++) log(i)",
    );
    expect(run.logs).toHaveLength(1001);
    expect(run.logs[0]).toBe(`info: ${'x'.repeat(9999)}… [52 characters cut]`);
    expect(run.logs.at(-1)).toMatch(/first 1000 log lines/);
  });
});
