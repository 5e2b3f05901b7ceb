import { describe, expect, it } from 'vitest';
import { failure, runInSandbox, saying } from '../runtime/sandbox/run-in-sandbox.ts';

describe('agent()', () => {
  it('sends text of what it is given, well-formed, with the options as JSON (S-9, S-33)', async () => {
    const run = await runInSandbox(`
      await agent('plain', { label: 'l', schema: { type: 'object' } })
      await agent({ a: [1] }); await agent(7); await agent(false); await agent(12n); await agent(['x'])
      await agent('half \\ud800 and \\ud83d\\ude00'); await agent('none', null); await agent('none', undefined)
      await agent('functions', { schema: () => 1, label: Symbol('s') })
    `);
    expect(run.agents.map(({ prompt }) => prompt)).toEqual([
      ...['plain', '{"a":[1]}', '7', 'false', '12', '["x"]', 'half \ufffd and 😀', 'none', 'none', 'functions'],
    ]);
    expect(run.agents.map(({ optsJson }) => optsJson)).toEqual([
      ...['{"label":"l","schema":{"type":"object"}}', ...new Array<undefined>(8)],
      '{"schema":"[function]","label":"[symbol]"}',
    ]);
    expect(run.agents.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('rejects with a TypeError, and never throws, for what cannot be a call (S-9)', async () => {
    const run = await runInSandbox(`
      const cycle = {}; cycle.self = cycle
      const bad = [[], [undefined], [null], [''], [' \\n '], [() => 1], [Symbol('s')], [cycle], [{ n: 1n }], ['p', 'text'], ['p', ['list']], ['p', 5], ['p', cycle], ['p', { n: 1n }], ['p', () => 1]]
      const out = []
      for (const values of bad) { const p = agent(...values); out.push(await p.then(() => 'accepted', (e) => e.constructor === TypeError && e.message.length > 20)) }
      out.push(await agent('p', { schema: cycle }).catch((e) => e.message.startsWith('The options of agent() cannot be written as JSON: ')))
      const thrower = await agent('p', { get label() { throw new RangeError('own') } }).catch((e) => e.message)
      return [out, thrower]
    `);
    expect(run.value).toEqual([new Array(16).fill(true), 'own']);
    expect(run.agents).toEqual([]);
  });

  it('rejects with an error of the host that shows the author’s line, its code and its data (S-8, S-20, A-4)', async () => {
    const run = await runInSandbox(
      `const out = []
for (const prompt of ['PLAIN', 'TYPE']) {
  try {
    await agent(prompt)
  } catch (e) { out.push([e.name, e.message, e.code, e.lastText, e instanceof TypeError, /script\\.js:5:/.test(e.stack)]) }
}
return out`,
      {
        agent: ({ prompt }) =>
          failure(
            prompt === 'PLAIN'
              ? { data: { lastText: 'x', message: 'no', stack: 'no' } }
              : { name: 'TypeError', code: 'USAGE_INVALID' },
          ),
      },
    );
    expect(run.value).toEqual([
      ['WorkflowError', 'there was no output', 'AGENT_NO_OUTPUT', 'x', false, true],
      ['TypeError', 'there was no output', 'USAGE_INVALID', null, true, true],
    ]);
  });

  it('fails the run with the code and line of a host’s error that nobody caught (S-30)', async () => {
    const { end } = await runInSandbox(`const inner = async () => {\n  return await agent('x')\n}\nawait inner()`, {
      agent: () => failure(),
    });
    expect(end).toMatchObject({
      type: 'threw',
      error: { name: 'WorkflowError', code: 'AGENT_NO_OUTPUT', file: 'script.js', line: 3 },
    });
  });

  it('gives each answer as a value of its own, whatever characters it holds', async () => {
    const odd = 'a\u2028b\0c';
    const run = await runInSandbox(
      `const [a, b] = await Promise.all([agent('1'), agent('2')]); a.list.push(9); return [a, b, await agent('half')]`,
      {
        agent: ({ prompt }) => ({
          ok: true,
          valueJson: prompt === 'half' ? '"\ud800"' : `{\n  "list": [1],\r\n  "odd": ${JSON.stringify(odd)}\n}`,
        }),
      },
    );
    expect(run.value).toEqual([{ list: [1, 9], odd }, { list: [1], odd }, '\ud800']);
  });

  it('counts spent tokens and what remains as the answers come (S-17)', async () => {
    const run = await runInSandbox(
      `const seen = [[budget.total, budget.spent(), budget.remaining()]]; await agent('a'); seen.push([budget.spent(), budget.remaining()]); for (let i = 0; i < 3; i++) await agent('b'); return [seen, budget.remaining(), Object.isFrozen(budget)]`,
      { options: { budgetTotal: 25 } },
    );
    expect(run.value).toEqual([
      [
        [25, 0, 25],
        [10, 15],
      ],
      0,
      true,
    ]);
  });

  it('passes a hundred calls of one turn on in call order, and takes answers in any (S-10)', async () => {
    const waiting: (() => void)[] = [];
    const run = await runInSandbox(
      `return await parallel(Array.from({ length: 100 }, (_, i) => () => agent('item ' + i)))`,
      {
        agent: ({ prompt }) =>
          new Promise((resolve) => {
            waiting.push(() => resolve(saying(prompt.toUpperCase())));
            if (waiting.length === 100) for (const answer of waiting.reverse()) answer();
          }),
      },
    );
    expect(run.agents.map(({ prompt }) => prompt)).toEqual(Array.from({ length: 100 }, (_, at) => `item ${at}`));
    expect(run.value).toEqual(Array.from({ length: 100 }, (_, at) => `ITEM ${at}`));
  });
});
