import { describe, expect, it } from 'vitest';
import { compileError } from '../../../runtime/sandbox/child/compile-error.ts';
import { programOf, runInSandbox, type Scenario, saying } from '../runtime/sandbox/run-in-sandbox.ts';

/** The scopes of a script's calls by prompt. Answers come in an order of their own: a higher `slow` in a prompt comes later. */
async function scopesOf(body: string, scenario: Scenario = {}): Promise<Record<string, string>> {
  const run = await runInSandbox(body, { agent: answerLate, ...scenario });
  expect(run.end, JSON.stringify(run.end)).toMatchObject({ type: 'returned' });
  return Object.fromEntries(run.agents.map(({ prompt, scope }) => [prompt, scope]));
}

async function answerLate({ prompt }: { readonly prompt: string }) {
  for (let turns = Number(/slow (\d+)/.exec(prompt)?.[1] ?? 0) * 3; turns > 0; turns--) {
    await new Promise(setImmediate);
  }
  if (/FAIL/.test(prompt)) return { ok: false, error: { name: 'Error', code: 'X', message: 'failed' } } as const;
  return saying(`said ${prompt}`);
}

describe('the scope of a call (R-21)', () => {
  it('is that of its stage after any number of awaits, fulfilled and rejected', async () => {
    expect(
      await scopesOf(`
        await pipeline([2, 1, 0], async (p, item, i) => {
          await agent('a' + i + ' slow ' + item)
          try { await agent('FAIL ' + i) } catch { await agent('b' + i) } finally { await agent('c' + i) }
          return 1
        }, (p, item, i) => agent('d' + i))
        await agent('end')`),
    ).toEqual({
      'a0 slow 2': '/pipeline:0/item:0/stage:0',
      'a1 slow 1': '/pipeline:0/item:1/stage:0',
      'a2 slow 0': '/pipeline:0/item:2/stage:0',
      ...Object.fromEntries(
        [0, 1, 2].flatMap((i) => [
          ...['FAIL ', 'b', 'c'].map((name) => [`${name}${i}`, `/pipeline:0/item:${i}/stage:0`]),
          [`d${i}`, `/pipeline:0/item:${i}/stage:1`],
        ]),
      ),
      end: '',
    });
  });

  it('numbers helpers where they are called, nested ones too', async () => {
    expect(
      await scopesOf(`
        await parallel([0, 1].map((n) => async () => {
          await agent('a' + n + ' slow ' + (1 - n))
          await parallel([() => agent('b' + n), async () => { await agent('c' + n); return pipeline([5], () => agent('d' + n)) }])
          await parallel([() => agent('e' + n)])
        }))
        await parallel([() => agent('f')])`),
    ).toEqual({
      'a0 slow 1': '/parallel:0/item:0',
      'a1 slow 0': '/parallel:0/item:1',
      ...Object.fromEntries(
        [0, 1].flatMap((n) => [
          [`b${n}`, `/parallel:0/item:${n}/parallel:0/item:0`],
          [`c${n}`, `/parallel:0/item:${n}/parallel:0/item:1`],
          [`d${n}`, `/parallel:0/item:${n}/parallel:0/item:1/pipeline:0/item:0/stage:0`],
          [`e${n}`, `/parallel:0/item:${n}/parallel:1/item:0`],
        ]),
      ),
      f: '/parallel:1/item:0',
    });
  });

  it('is another for each of many calls of one async function', async () => {
    expect(
      await scopesOf(`
        const work = async (n) => { await agent('a' + n + ' slow ' + (3 - n)); await agent('b' + n) }
        await Promise.all([0, 1, 2].map(work))
        await parallel([() => Promise.all([3, 4].map(async (n) => { await work(n) }))])`),
    ).toMatchObject({
      'a0 slow 3': '/call:0',
      b0: '/call:0',
      b1: '/call:1',
      b2: '/call:2',
      b3: '/parallel:0/item:0/call:0',
      b4: '/parallel:0/item:0/call:1/call:0',
    });
  });

  it('of a handler is that in which it was attached', async () => {
    expect(
      await scopesOf(`
        const early = agent('early slow 2')
        await pipeline([0, 1], (p, i) => agent('a' + i + ' slow ' + (1 - i)).then(() => agent('b' + i)).then(() => agent('c' + i)),
          async (p, i) => { await null; await early.then(() => agent('d' + i)); await agent('FAIL' + i).catch(() => agent('e' + i)).finally(() => agent('f' + i)); return agent('g' + i) })`),
    ).toMatchObject(
      Object.fromEntries(
        [0, 1].flatMap((i) => [
          [`b${i}`, `/pipeline:0/item:${i}/stage:0`],
          [`c${i}`, `/pipeline:0/item:${i}/stage:0/then:0`],
          [`d${i}`, `/pipeline:0/item:${i}/stage:1/then:0`],
          [`e${i}`, `/pipeline:0/item:${i}/stage:1/then:1`],
          [`f${i}`, `/pipeline:0/item:${i}/stage:1/then:2`],
          [`g${i}`, `/pipeline:0/item:${i}/stage:1`],
        ]),
      ),
    );
  });

  it('of a timer and of a microtask is that in which they were set', async () => {
    expect(
      await scopesOf(`
        await parallel([0, 1].map((n) => async () => {
          await new Promise((done) => setTimeout(async () => { await agent('a' + n); await agent('b' + n); done() }, 3 - n))
          await new Promise((done) => queueMicrotask(() => agent('c' + n).then(done)))
          await agent('d' + n)
        }))`),
    ).toMatchObject({
      a0: '/parallel:0/item:0/timer:0',
      b1: '/parallel:0/item:1/timer:0',
      c0: '/parallel:0/item:0/timer:1',
      d1: '/parallel:0/item:1',
    });
  });

  it('in generators and for await is that of the code that goes on', async () => {
    expect(
      await scopesOf(`
        async function* steps(n) { await agent('a' + n + ' slow ' + (1 - n)); yield agent('b' + n); yield* inner(n); return agent('e' + n) }
        async function* inner(n) { await agent('c' + n); yield 1; await agent('d' + n) }
        function* plain(n) { yield agent('f' + n) }
        await parallel([0, 1].map((n) => async () => {
          let k = 0
          for await (const x of steps(n)) await agent('loop' + k++ + n)
          for (const x of plain(n)) await x
          try { for await (const x of [agent('FAIL' + n)]); } catch { await agent('g' + n) }
          for await (const x of steps(n + 5)) break
          await agent('h' + n)
        }))
        await agent('end')`),
    ).toMatchObject({
      ...Object.fromEntries(
        [0, 1].flatMap((n) => {
          const thunk = `/parallel:0/item:${n}`;
          return [
            ...['b', 'e'].map((name) => [`${name}${n}`, `${thunk}/call:0`]),
            ...['c', 'd'].map((name) => [`${name}${n}`, `${thunk}/call:0/call:0`]),
            ...['loop0', 'loop1', 'f', 'g', 'h'].map((name) => [`${name}${n}`, thunk]),
            [`b${n + 5}`, `${thunk}/call:1`],
          ];
        }),
      ),
      end: '',
    });
  });

  it('in the mapper of Array.fromAsync is that of its caller', async () => {
    expect(
      await scopesOf(`
        await parallel([0, 1].map((n) => async () => {
          const list = await Array.fromAsync([1, 2], async (k) => { await agent('a' + n + k + ' slow ' + (1 - n)); await agent('b' + n + k); return k })
          await agent('c' + n + list + Array.fromAsync.length)
        }))`),
    ).toMatchObject({
      b01: '/parallel:0/item:0/call:0/call:0',
      b02: '/parallel:0/item:0/call:0/call:1',
      b11: '/parallel:0/item:1/call:0/call:0',
      'c01,21': '/parallel:0/item:0',
    });
  });

  it('in a thenable is that of whoever awaits it', async () => {
    expect(
      await scopesOf(`
        class Lazy { constructor(n) { this.n = n } then(ok, no) { return agent('lazy' + this.n).then(ok, no) } }
        await parallel([0, 1].map((n) => async () => { await null; await new Lazy(n); await agent('after' + n) }))`),
    ).toMatchObject({
      lazy0: '/parallel:0/item:0',
      lazy1: '/parallel:0/item:1',
      after0: '/parallel:0/item:0',
      after1: '/parallel:0/item:1',
    });
  });

  it('in a nested workflow begins with its name; a second call is numbered when it is made (S-18)', async () => {
    const child =
      "export const meta = { name: 'child', description: 'a test' }\nawait agent(args + '1')\nreturn agent(args + '2')";
    expect(
      await scopesOf(
        `await parallel([async () => { await agent('before'); await workflow('child', 'x'); await agent('after') }])
         await Promise.all([workflow('child', 'y'), workflow('child', 'z')])`,
        { workflows: { child } },
      ),
    ).toEqual({
      before: '/parallel:0/item:0',
      x1: '/parallel:0/item:0/workflow:child',
      x2: '/parallel:0/item:0/workflow:child',
      after: '/parallel:0/item:0',
      y1: '/workflow:child',
      y2: '/workflow:child',
      z1: '/workflow:child:1',
      z2: '/workflow:child:1',
    });
  });

  it('stays short however deep a script recurses', async () => {
    const { agents, end } = await runInSandbox(`
      const walk = async (n) => { await null; return n === 0 ? agent('deep') : walk(n - 1) }
      const nest = async (n) => { await null; return n === 0 ? agent('nested') : parallel([() => nest(n - 1)]) }
      return Promise.all([walk(5000), walk(5000), walk(4999), nest(300), nest(300)])`);
    expect(end.type).toBe('returned');
    expect(new Set(agents.map(({ scope }) => scope)).size).toBe(5);
    for (const { scope } of agents) expect(scope.length).toBeLessThan(450);
  });
});

describe('the phase of a call', () => {
  const phasesOf = async (body: string) => {
    const { agents } = await runInSandbox(body, { agent: answerLate });
    return Object.fromEntries(agents.map(({ prompt, phase }) => [prompt, phase]));
  };

  it('set in a thunk or a stage holds there only, after its awaits too (R-24)', async () => {
    expect(
      await phasesOf(`
        phase('Outer')
        await parallel(['L', 'R'].map((side, n) => async () => {
          phase(side); await agent(side + '1 slow ' + (1 - n)); await agent(side + '2').then(() => agent(side + '3'))
          await Promise.all([0, 1].map(async (k) => { await null; await agent(side + '4' + k) }))
        }))
        await agent('end')`),
    ).toMatchObject({ 'L1 slow 1': 'L', L2: 'L', L3: 'L', L41: 'L', R2: 'R', R3: 'R', R40: 'R', end: 'Outer' });
  });

  it('set in an async function holds after it for the code that called it (S-14)', async () => {
    expect(
      await phasesOf(`
        const step = async (title) => { phase(title); await agent('in ' + title) }
        await step('One'); await agent('a'); await step('Two'); await agent('b')
        await parallel([async () => { await step('Three'); await agent('c') }]); await agent('d')`),
    ).toEqual({ 'in One': 'One', a: 'One', 'in Two': 'Two', b: 'Two', 'in Three': 'Three', c: 'Three', d: 'Two' });
  });

  it('of a body ends with it, and two bodies at once do not meet (S-14)', async () => {
    expect(
      await phasesOf(`
        phase('Outer')
        await Promise.all(['A', 'B'].map((title, n) => phase(title, async () => { await agent(title + '1 slow ' + n); await agent(title + '2') })))
        await agent('end')`),
    ).toMatchObject({ A2: 'A', B2: 'B', end: 'Outer' });
  });
});

describe('what a script sees of it', () => {
  const value = async (body: string) => (await runInSandbox(body)).value;

  it('the source of its functions is what the author wrote', async () => {
    expect(
      await value(`
        const f = async (x) => { try { return await agent(x).then((y) => y) } catch {} }
        class A { async *g() { yield await f(1) } }
        return [String(f), A.toString(), \`\${async () => await f(2)}\`, Function.prototype.toString.call(Math.max)]`),
    ).toEqual([
      'async (x) => { try { return await agent(x).then((y) => y) } catch {} }',
      'class A { async *g() { yield await f(1) } }',
      'async () => await f(2)',
      'function max() { [native code] }',
    ]);
  });

  it('places in stacks are those of its file, in two files of one name too (S-8)', async () => {
    const child = `export const meta = { name: 'child', description: 'x' }\n  await agent(1);   await agent(2); throw new Error('in child')`;
    const run = await runInSandbox(
      `const places = []
const at = (e) => places.push(/script\\.js:\\d+:\\d+/.exec(e.stack)[0])
try { await agent(1); await agent(2); throw new Error('x') } catch (e) { at(e) }
const f = async () => (await agent(1), missing())
try { await f() } catch (e) { at(e) }
try { await workflow('script') } catch (e) { at(e) }
await Promise.all([1].map(async () => { await agent(3); await agent(4).then(() => { at(new Error('y')) }) }))
return places`,
      { workflows: { script: child } },
    );
    expect(run.value).toEqual(['script.js:4:45', 'script.js:5:40', 'script.js:2:43', 'script.js:8:88']);
    const failed = await runInSandbox('await agent(1); throw new TypeError("here")');
    expect(failed.end).toMatchObject({ error: { line: 2, column: 23, file: 'script.js' } });
  });

  it('a fault that only the engine finds has its place (S-6)', () => {
    const program = programOf('const [x] = [await agent(1), 2]', 'script.js', undefined);
    const column = (program.code.split('\n')[2] as string).indexOf(', 2') + 1;
    const error = new SyntaxError(`Invalid flags [script.js#2:2:${column}]`);
    expect(compileError(error, program)).toEqual({
      name: 'SyntaxError',
      message: 'Invalid flags',
      file: 'script.js',
      line: 2,
      column: 28,
    });
  });

  it('a rejection that nobody handles is told with its place (S-26)', async () => {
    const run = await runInSandbox("await agent(1); Promise.reject(new Error('loose'))\nawait agent(2)\nreturn 1");
    expect(run.logs.join()).toMatch(/loose \(script\.js:2:32\)/);
  });
});
