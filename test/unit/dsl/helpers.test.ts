import { describe, expect, it } from 'vitest';
import { failure, runInSandbox, saying } from '../runtime/sandbox/run-in-sandbox.ts';

const limit = () => failure({ code: 'LIMIT_AGENT_COUNT', message: 'no more agents', passesThrough: true });

describe('parallel() and pipeline()', () => {
  it('tell of a part that threw, with its place and its scope, and go on (S-10, S-11)', async () => {
    const run = await runInSandbox(`
const a = await parallel([() => 1, () => { throw new Error('sync') }, async () => { throw 'text' }])
const b = await pipeline(['x', 'y'], (x) => x, (x) => { if (x === 'y') throw new RangeError('stage'); return x }, (x) => x + '!')
return [a, b]`);
    expect(run.value).toEqual([
      [1, null, null],
      ['x!', null],
    ]);
    expect(run.parts).toMatchObject([
      { helper: 'parallel', index: 1, scope: '/parallel:0/item:1', error: { name: 'Error', message: 'sync', line: 3 } },
      { helper: 'parallel', index: 2, scope: '/parallel:0/item:2', error: { name: 'string', message: 'text' } },
      {
        helper: 'pipeline',
        index: 1,
        stage: 1,
        scope: '/pipeline:0/item:1/stage:1',
        error: { name: 'RangeError', line: 4 },
      },
    ]);
    expect(run.logs).toEqual([
      'warn: parallel: item 1 failed: Error: sync (script.js:3:50)',
      'warn: parallel: item 2 failed: string: text',
      'warn: pipeline: item 1, stage 1 failed: RangeError: stage (script.js:4:78)',
    ]);
  });

  it('ask a list for its length once, so that no Proxy gets past the limit (S-12, S-32)', async () => {
    const run = await runInSandbox(
      `const growing = (item) => { let asked = 0; return new Proxy([], { get: (_, key) => (key === 'length' ? (asked++ === 0 ? 1 : 50) : item) }) }
const length = { valueOf() { return this.asked++ === 0 ? 1 : 50 }, asked: 0 }
const odd = new Proxy([], { get: (_, key) => (key === 'length' ? length : () => 'odd') })
return [await parallel(growing(() => 'thunk')), await pipeline(growing('item'), (x) => x), await parallel(odd)]`,
      { options: { maxItems: 4 } },
    );
    expect(run.value).toEqual([['thunk'], ['item'], ['odd']]);
  });

  it('make null of an agent’s own failure without telling it again (A-3, A-4)', async () => {
    const run = await runInSandbox(
      `return [await parallel([() => agent('a'), async () => { await agent('b') }]), await pipeline([1], () => agent('c'), () => 2)]`,
      { agent: () => failure() },
    );
    expect(run.value).toEqual([[null, null], [null]]);
    expect([run.parts, run.logs]).toEqual([[], []]);
  });

  it('tell of an error that a script made of an agent’s failure', async () => {
    const run = await runInSandbox(
      `return await parallel([async () => { try { await agent('a') } catch (cause) { throw new Error('mine', { cause }) } }])`,
      { agent: () => failure() },
    );
    expect(run.parts).toMatchObject([{ error: { message: 'mine', cause: { code: 'AGENT_NO_OUTPUT' } } }]);
  });

  it('pass a limit on unchanged once their started parts have settled (S-13)', async () => {
    const run = await runInSandbox(
      `const seen = []
       for (const f of [
         () => parallel([() => agent('LIMIT'), () => agent('later').then(() => seen.push('settled'))]),
         () => pipeline([1, 2], (i) => agent(i === 1 ? 'LIMIT' : 'later'), () => { seen.push('second stage') }),
         () => parallel([() => parallel([() => agent('LIMIT')])]),
       ]) { try { await f(); seen.push('no error') } catch (e) { seen.push(e.code) } }
       return seen`,
      {
        agent: async ({ prompt }) => {
          if (prompt === 'LIMIT') return limit();
          await new Promise((resolve) => setTimeout(resolve, 50));
          return saying('ok');
        },
      },
    );
    expect(run.value).toEqual([
      'settled',
      'LIMIT_AGENT_COUNT',
      'second stage',
      'LIMIT_AGENT_COUNT',
      'LIMIT_AGENT_COUNT',
    ]);
    expect(run.parts).toEqual([]);
  });

  it('fail the run with LIMIT_ITEMS, naming the option, when too many items are not caught (S-12)', async () => {
    const { end } = await runInSandbox('await parallel([() => pipeline([1, 2, 3], (x) => x)])', {
      options: { maxItems: 2 },
    });
    expect(end).toMatchObject({ type: 'threw', error: { code: 'LIMIT_ITEMS' } });
    expect(JSON.stringify(end)).toMatch(/--max-items/);
  });

  it('hand stages the value before, the item and its index, and wait for no other item (S-11)', async () => {
    const run = await runInSandbox(`
      const seen = []
      const r = await pipeline(['a', 'b'], (p, i, n) => { seen.push(['one', p, i, n]); return n === 0 ? undefined : i + '1' }, (p, i, n) => { seen.push(['two', p, i, n]); return n })
      return [seen, r]`);
    expect(run.value).toEqual([
      [
        ['one', 'a', 'a', 0],
        ['one', 'b', 'b', 1],
        ['two', null, 'a', 0],
        ['two', 'b1', 'b', 1],
      ],
      [0, 1],
    ]);
  });

  it('number scopes within the place where they are called (R-21)', async () => {
    const run = await runInSandbox(
      `await parallel([() => agent('a')])
       await parallel([() => 0, () => pipeline([5], () => agent('b'), () => parallel([() => agent('c')]))])
       await pipeline([1], () => workflow('kid'))
       await agent('root')`,
      {
        workflows: { kid: "export const meta = { name: 'kid', description: 'd' }\nawait parallel([() => agent('d')])" },
      },
    );
    expect(run.agents.map(({ prompt, scope }) => [prompt, scope])).toEqual([
      ['a', '/parallel:0/item:0'],
      ['b', '/parallel:1/item:1/pipeline:0/item:0/stage:0'],
      ['c', '/parallel:1/item:1/pipeline:0/item:0/stage:1/parallel:0/item:0'],
      ['d', '/pipeline:0/item:0/stage:0/workflow:kid/parallel:0/item:0'],
      ['root', ''],
    ]);
  });
});

describe('phase()', () => {
  it('puts later agents into the phase, a body’s into its own, and restores it (S-14)', async () => {
    const run = await runInSandbox(`
      await agent('none'); phase('A'); await agent('a'); phase('A')
      const v = await phase('B', async () => { await agent('b1'); await agent('b2'); return 4 })
      await agent('a again')
      const sync = phase('C', () => 'value')
      try { phase('D', () => { throw new Error('body') }) } catch { await agent('a still') }
      return [v, sync]`);
    expect(run.agents.map(({ prompt, phase }) => [prompt, phase])).toEqual([
      ['none', null],
      ['a', 'A'],
      ['b1', 'B'],
      ['b2', 'B'],
      ['a again', 'A'],
      ['a still', 'A'],
    ]);
    expect(run.value).toEqual([4, 'value']);
    expect(run.phases).toEqual(['A', 'B', 'C', 'D']);
  });

  it('holds for its thunk or stage only (R-24)', async () => {
    const run = await runInSandbox(`phase('Outer')
      await parallel(['L', 'R'].map((side) => () => { phase(side); return agent(side) }))
      await pipeline([1], () => { phase('S'); return agent('stage') }, () => agent('next'))`);
    expect(run.agents.map(({ prompt, phase }) => `${prompt} ${phase}`)).toEqual([
      'L L',
      'R R',
      'stage S',
      'next Outer',
    ]);
  });

  it('refuses what is no title (S-14)', async () => {
    const run = await runInSandbox(
      `const out = []; for (const t of [undefined, null, {}, '', ' ']) { try { phase(t); out.push('taken') } catch (e) { out.push(e instanceof TypeError) } } try { phase('x', 5) } catch (e) { out.push(e.message) } return out`,
    );
    expect(run.value).toEqual([true, true, true, true, true, expect.stringContaining('function') as string]);
  });
});

describe('workflow()', () => {
  const kid = (body: string): string => `export const meta = { name: 'kid', description: 'd' }\n${body}`;

  it('runs another workflow in a phase of its own, with its own globals (S-18)', async () => {
    const run = await runInSandbox(
      `phase('Mine')
       const [v] = await Promise.all([workflow('kid', { n: 3 }), agent('parent')])
       await agent('parent after')
       return v`,
      {
        workflows: {
          kid: kid(
            "phase('ignored'); await null; await agent('first'); await agent('kid'); log(meta.name); return new Map([['n', args.n]])",
          ),
        },
      },
    );
    expect(run.value).toEqual({ n: 3 });
    expect(run.phases).toEqual(['Mine', '▸ kid']);
    expect(run.agents.map(({ prompt, workflow, phase }) => [prompt, workflow, phase])).toEqual([
      ['parent', null, 'Mine'],
      ['first', 'kid', '▸ kid'],
      ['kid', 'kid', '▸ kid'],
      ['parent after', null, 'Mine'],
    ]);
    expect(run.workflows).toMatchObject([
      { ref: { name: 'kid' }, argsJson: '{"n":3}', depth: 1, callerFile: 'script.js' },
    ]);
  });

  it('rejects with what the nested workflow threw, its line included, and with what the host says (S-18)', async () => {
    const run = await runInSandbox(
      `const out = []
       for (const name of ['throws', 'nowhere', 'big', 'regex', {}]) { try { await workflow(name); out.push('no error') } catch (e) { out.push([e.name, e.message.slice(0, 120), /throws\\.js:3/.test(e.stack)]) } }
       return out`,
      {
        workflows: {
          throws: kid("\nthrow new RangeError('inner')"),
          big: kid('return 1n'),
          regex: kid('return /(?<n>a)(?<n>b)/'),
        },
      },
    );
    expect(run.value).toEqual([
      ['RangeError', 'inner', true],
      ['WorkflowError', 'There is no workflow nowhere.', false],
      ['TypeError', expect.stringContaining('BigInt') as string, false],
      ['WorkflowError', expect.any(String) as string, false],
      ['TypeError', expect.stringContaining('scriptPath') as string, false],
    ]);
  });

  it('numbers the scope of a second call of the same name, and refuses to go too deep (S-18, R-21)', async () => {
    const run = await runInSandbox(
      `await workflow('kid'); await workflow('kid')
       try { await workflow('deep') } catch (e) { return [e.code, /--max-depth/.test(e.message)] }`,
      { workflows: { kid: kid("await agent('k')"), deep: kid("return await workflow('kid')") } },
    );
    expect(run.agents.map(({ scope }) => scope)).toEqual(['/workflow:kid', '/workflow:kid:1']);
    expect(run.value).toEqual(['LIMIT_DEPTH', true]);
  });
});
