import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../../../runtime/ports.ts';
import type { FindingKind, RehearsalOptions, RehearsalReport } from '../../../../runtime/rehearse/rehearsal.ts';
import { rehearseWorkflow } from '../../../../runtime/rehearse/rehearse-workflow.ts';
import { answeringBackend } from '../../../support/answering-backend.ts';

const META = "export const meta = { name: 'tried', description: 'd' }\n";

/** Rehearses a body, whose first line is line 2, with agents that answer with their prompt in capitals. */
function rehearse(
  body: string,
  options: Partial<RehearsalOptions> = {},
  answer: (request: AgentRequest) => unknown = ({ prompt }) => prompt.toUpperCase(),
): Promise<RehearsalReport> {
  return rehearseWorkflow({ script: META + body, makeBackend: () => answeringBackend(answer), ...options });
}

function found({ findings }: RehearsalReport): readonly [FindingKind, number | undefined, string][] {
  return findings.map(({ kind, line, variants }) => [kind, line, variants.join(' ')]);
}

const ONLY = (...kinds: readonly ('order' | 'null' | 'reject' | 'bad' | 'budget' | 'kill')[]) => ({
  only: kinds.map((kind) => ({ kind })),
});

/** Each run starts a process; the default leaves no room on a busy machine. */
const MANY_RUNS_MS = 90_000;

const STURDY = `
const parts = await parallel(['a', 'b'].map((name) => () => agent('look at ' + name)))
const found = parts.map((part) => part ?? 'nobody looked')
if (parts.includes(null)) log('an agent failed')
const sum = await agent('sum up: ' + found.join(', ')).catch(() => null)
return { found, sum: sum || 'there is no summary' }`;

describe('a script that bears everything', () => {
  it(
    'is run in every variant and has no findings (S-25, A-3, A-4, R-8)',
    async () => {
      const report = await rehearse(STURDY, { orders: 2 });
      expect(report.findings).toEqual([]);
      expect(report.ran).toEqual({ order: 2, null: 3, reject: 3, bad: 3, budget: 1, kill: 3 });
      expect(report.calls.map(({ number, label, line }) => [number, label, line])).toEqual([
        [1, 'look at a', 3],
        [2, 'look at b', 3],
        [3, 'sum up: LOOK AT A, LOOK AT B', 6],
      ]);
    },
    MANY_RUNS_MS,
  );

  it('needs no variants of order when its agents work one after another', async () => {
    const report = await rehearse("await agent('1'); return agent('2')", ONLY('order'));
    expect(report.ran.order).toBe(0);
  });

  it(
    'asks its backend for each call once, whatever was done to it',
    async () => {
      const asked: string[] = [];
      await rehearse(STURDY, { ...ONLY('order', 'kill', 'bad'), orders: 1 }, ({ prompt }) => {
        asked.push(prompt);
        return prompt;
      });
      // A bad answer changes the prompt that is made of it, and only such a prompt is asked anew.
      expect(asked.filter((prompt) => prompt.startsWith('look'))).toEqual(['look at a', 'look at b']);
    },
    MANY_RUNS_MS,
  );
});

describe('a script that does not bear a failure', () => {
  it('hangs when it waits for what a dead agent would have done (S-25)', async () => {
    const report = await rehearse(
      `let open
       const gate = new Promise((resolve) => { open = resolve })
       await Promise.all([agent('first').then((text) => text && open()), gate])
       return 'done'`,
      ONLY('null', 'reject', 'bad'),
    );
    expect(found(report)).toEqual([['hangs', 4, 'null:1 bad:1']]);
    expect(report.findings[0]?.message).toBe(
      'When call 1 "first" (line 4) is null, the script waits for something that can never happen',
    );
  });

  it('hangs when a timer goes on for ever (S-19)', async () => {
    const report = await rehearse(
      `const text = await agent('first')
       const again = () => setTimeout(again, 50)
       if (text === null) await new Promise(again)
       return text + '!'`,
      { ...ONLY('null'), timeoutMs: 6_000 },
    );
    expect(found(report)).toEqual([['hangs', 2, 'null:1']]);
  });

  it('crashes on null at the line that reads it (A-3)', async () => {
    const report = await rehearse(
      `const text = await agent('first')
       const second = await agent('second')
       return text.length + second.length`,
      ONLY('null', 'reject'),
    );
    expect(found(report)).toEqual([['crashes-on-null', 4, 'null:1 null:2']]);
  });

  it('crashes in a part, which then is null without a word (S-10)', async () => {
    const report = await rehearse(
      `const all = await pipeline(['a', 'b'],
         (item) => agent('look at ' + item, { schema: { type: 'array', items: { type: 'string' } } }),
         (list) => list[0].length)
       return { all }`,
      ONLY('bad'),
      () => ['something'],
    );
    expect(found(report)).toEqual([['crashes-on-answer', 4, 'bad:1 bad:2']]);
  });

  it('swallows it when the result is as ever, or only lacks a part (A-19)', async () => {
    const same = await rehearse("await agent('write it'); return 'written'", ONLY('null'));
    expect(found(same)).toEqual([['swallows-failure', 2, 'null:1']]);
    expect(same.findings[0]?.severity).toBe('warning');
    const part = await rehearse(
      `const all = await parallel([() => agent('a'), () => agent('b')])
       return { all: all.filter(Boolean) }`,
      ONLY('null', 'reject'),
    );
    expect(found(part)).toEqual([['swallows-failure', 2, 'null:1 null:2 reject:1 reject:2']]);
    expect(part.findings[0]?.message).toContain('completes with less (all has 1 of 2 items) and logs nothing');
  });

  it('does not swallow it when it throws, logs, or shows it in its result', async () => {
    const bodies = [
      "const text = await agent('a'); if (text === null) throw new Error('no text'); return 'ok'",
      "if ((await agent('a')) === null) log('no text'); return 'ok'",
      "return { text: await agent('a') }",
      "const all = [await agent('a')].filter(Boolean); return { all, missing: 1 - all.length }",
    ];
    for (const body of bodies) expect(found(await rehearse(body, ONLY('null')))).toEqual([]);
  });
});

describe('a script whose result depends on', () => {
  it('the order of answers is found, with the place of the difference (R-23)', async () => {
    const body = `const done = []
       await parallel(['a', 'b', 'c'].map((name) => async () => { await agent(name); done.push(name) }))
       return { done }`;
    const report = await rehearse(body, { ...ONLY('order'), orders: 3 });
    expect(report.findings[0]?.kind).toBe('order-dependent');
    expect(report.findings[0]?.message).toBe(
      'When answers come in another order, the script gives another result: done[0] is "c" and was "a"',
    );
    expect(report.findings[0]?.variants[0]).toBe('order:1');
  });

  it('the order of answers meets each order exactly: an answer waits until the last one was used up (R-23)', async () => {
    const body = `const steps = []
       await parallel(['a', 'b', 'c'].map((name) => async () => {
         for (const step of [1, 2, 3]) {
           await agent(name + step)
           for (let i = 0; i < 20_000; i++) await null
           steps.push(name + step)
         }
       }))
       return steps.slice(1).join(' ')`;
    const report = await rehearse(body, { only: [{ kind: 'order', number: 1 }] });
    expect(report.findings[0]?.message).toContain('it is "c2 c3 b1 b2 b3 a1 a2 a3" and was "b1 c1 a2 b2 c2 a3 b3 c3"');
  });

  it('the order of answers only in what it asks is warned of (R-11)', async () => {
    const body = `let seen = ''
       await parallel(['a', 'b'].map((name) => async () => {
         const text = await agent(name)
         seen += text
         await agent('and then, after ' + seen)
       }))
       return 'ok'`;
    const report = await rehearse(body, { ...ONLY('order'), orders: 1 });
    expect(report.findings).toMatchObject([{ kind: 'order-dependent', severity: 'warning', variants: ['order:1'] }]);
  });

  it(
    'equal prompts at different places is not mistaken for one, since each place keeps its answer (R-22)',
    async () => {
      let count = 0;
      const body = `return pipeline([1, 2, 3], (n) => agent('draft ' + n), () => agent('judge'))`;
      const report = await rehearse(body, { ...ONLY('order', 'kill'), orders: 2 }, () => {
        count += 1;
        return `verdict ${count}`;
      });
      expect(report.findings).toEqual([]);
    },
    MANY_RUNS_MS,
  );

  it('a budget is found when it goes on calling or completes as ever (S-13, A-16)', async () => {
    const loop = `let text = ''
       for (let i = 0; i < 8; i++) text += await agent('part ' + i).catch(() => '') ?? ''
       return text`;
    const ignored = await rehearse(loop, { only: [{ kind: 'budget', number: 2 }] });
    expect(found(ignored)).toEqual([['limit-ignored', 3, 'budget:2']]);
    const same = "await agent('first'); await agent('second').catch(() => {}); return 'ok'";
    expect(found(await rehearse(same, ONLY('budget')))).toEqual([['limit-ignored', 2, 'budget:2']]);
  });

  it('a budget is ended when it never stops calling (A-16)', async () => {
    const body = `await agent('first')
       let text = null
       while (text === null) text = await agent('second').catch(() => null)
       return text`;
    const report = await rehearse(body, ONLY('budget'));
    expect(report.findings[0]?.message).toContain('goes on calling agents for ever');
  });

  it('a budget is not blamed for chains that each meet it once (S-11)', async () => {
    const body = `return pipeline([1, 2, 3, 4, 5, 6],
       (n) => agent('draft ' + n),
       (draft) => agent('review ' + draft).catch(() => 'not reviewed: ' + draft))`;
    expect((await rehearse(body, ONLY('budget'))).findings).toEqual([]);
  });

  it('a budget that ends it, or that it tells of, is in order (S-13)', async () => {
    expect((await rehearse("await agent('1'); return agent('2')", ONLY('budget'))).findings).toEqual([]);
    const told = "await agent('1'); const last = await agent('2').catch(() => 'none'); return last";
    expect((await rehearse(told, ONLY('budget'))).findings).toEqual([]);
  });
});

describe('a rehearsal', () => {
  it('stops at once when the script fails undisturbed, and says where', async () => {
    const report = await rehearse("const text = await agent('a')\nreturn text.no.such", {});
    expect(found(report)).toEqual([['fails-undisturbed', 3, '']]);
    expect(Object.values(report.ran)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it(
    'gives the same report for the same seed, and takes a sample when there are too many variants',
    async () => {
      const body = `const done = []
       await parallel([1, 2, 3].map((n) => async () => { await agent('n' + n); done.push(n) }))
       return done`;
      const few = { orders: 2, maxVariants: 5, seed: 42 };
      const first = await rehearse(body, few);
      expect(first.leftOut).toBe(2 + 3 * 4 - 5);
      expect(await rehearse(body, { ...few, jobs: 1 })).toEqual(first);
    },
    MANY_RUNS_MS,
  );

  it('takes a stand-in for calls that the answers on file do not know', async () => {
    const body = "return [await agent('known'), await agent('unknown')]";
    const report = await rehearseWorkflow({
      script: META + body,
      makeBackend: () =>
        answeringBackend(({ prompt }) =>
          prompt === 'known' ? 'yes' : new WorkflowError('AGENT_NO_RESPONSE', 'there is no rule'),
        ),
      makeStandIn: () => answeringBackend(() => 'made up'),
      ...ONLY('null'),
    });
    expect(report.standIns).toBe(1);
    expect(report.findings).toEqual([]);
  });

  it('runs nested workflows, and gives their calls no line of the outer script (S-18)', async () => {
    const report = await rehearse("return [await agent('outer'), await workflow('inner')]", {
      ...ONLY('null', 'kill'),
      findWorkflow: async () => ({
        text: `export const meta = { name: 'inner', description: 'd' }\nreturn (await agent('inner')).length`,
        fileName: 'inner.js',
        path: '/inner.js',
      }),
    });
    expect(report.calls.map(({ label, line }) => [label, line])).toEqual([
      ['outer', 2],
      ['inner', undefined],
    ]);
    expect(report.findings.map(({ kind, variants }) => [kind, ...variants])).toEqual([['crashes-on-null', 'null:2']]);
  });

  it('ends with RUN_CANCELLED when it is aborted', async () => {
    const stop = new AbortController();
    const running = rehearse(STURDY, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
  });
});
