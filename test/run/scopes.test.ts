import { describe, expect, it } from 'vitest';
import type { CoreEvent } from '../../protocol/core-event.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { RunHandle } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import { temporaryStore } from '../support/temporary-store.ts';

const store = temporaryStore();
const NEVER = new Promise<never>(() => {});
const said = async (label: string): Promise<string> => `old ${label}`;

/** Answers as it is told, until it is stopped. */
function backendOf(asked: string[], answers: (label: string) => Promise<string>): AgentBackend {
  return {
    name: 'scopes',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: true,
    model: undefined,
    async run({ label }, signal) {
      asked.push(label);
      const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const valueJson = JSON.stringify(await Promise.race([answers(label), aborted]));
      const usage = { inputTokens: 1, outputTokens: 1 };
      return { valueJson, empty: false, usage, toolUses: 0, attempts: 0 };
    },
    close: async () => {},
  };
}

const script = (body: string): string => `export const meta = { name: 'scopes', description: 'a test' }\n${body}\n`;

/** Runs until so many agents have finished. */
async function firstLaunch(body: string, stopAfter: number, answers: (label: string) => Promise<string>) {
  let finished = 0;
  let handle: RunHandle | undefined;
  const handleEvent = ({ type }: CoreEvent): void => {
    if (type === 'agent.finished' && ++finished === stopAfter) handle?.stop();
  };
  handle = await startWorkflow({
    store,
    backend: backendOf([], answers),
    script: script(body),
    transcripts: false,
    sinks: [{ handle: handleEvent }],
  });
  await handle.done;
  return handle.runId;
}

async function nextLaunch(runId: string, body?: string, answers = async (label: string) => `new ${label}`) {
  const asked: string[] = [];
  const backend = backendOf(asked, answers);
  const handle = await resumeWorkflow({
    store,
    backend,
    runId,
    transcripts: false,
    ...(body === undefined ? {} : { script: script(body) }),
  });
  const { resultJson } = await handle.done;
  return { asked, result: JSON.parse(resultJson ?? 'null') as unknown };
}

const JUDGES = `return await pipeline([0, 1, 2], (i) => agent('draft ' + i, { label: 'draft ' + i }), (v, i) => agent('judge', { label: 'judge ' + i }))`;

describe('answers on resume', () => {
  it('the one judge that finished keeps its answer where the drafts of others come anew (R-22)', async () => {
    const runId = await firstLaunch(JUDGES, 2, (label) => (label.endsWith('2') ? said(label) : NEVER));
    expect((await nextLaunch(runId)).result).toEqual(['new judge 0', 'new judge 1', 'old judge 2']);
  });

  it('the one judge that finished keeps its answer where another asks first (R-22, R-23)', async () => {
    const body = `const judge = (i) => agent('judge', { label: 'judge ' + i })
const held = (async () => { await agent('draft 0', { label: 'draft 0' }); return judge(0) })()
await agent('draft 2', { label: 'draft 2' })
for (let turn = 0; turn < 9; turn++) await null
return await Promise.all([judge(2), held])`;
    const judged = Promise.withResolvers<void>();
    const runId = await firstLaunch(body, 3, async (label) => {
      if (label === 'judge 2') judged.resolve();
      if (label === 'draft 0') await judged.promise;
      return said(label);
    });
    expect(await nextLaunch(runId)).toEqual({ asked: ['judge 0'], result: ['old judge 2', 'new judge 0'] });
  });

  it('the one judge that finished keeps its answer while the draft before it is made anew (R-22, R-23)', async () => {
    const body = `return await parallel([0, 1].map((i) => async () => {
  await agent('draft ' + i, { label: 'draft ' + i })
  return agent('judge', { label: 'judge ' + i })
}))`;
    const runId = await firstLaunch(body, 2, async (label) => {
      if (label === 'draft 0') return NEVER;
      if (label === 'draft 1') throw new WorkflowError('AGENT_API', 'The server is overloaded.');
      return said(label);
    });
    const { asked, result } = await nextLaunch(runId, undefined, async (label) => {
      if (label === 'draft 1') for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      return `new ${label}`;
    });
    expect(asked.toSorted()).toEqual(['draft 0', 'draft 1', 'judge 0']);
    expect(result).toEqual(['new judge 0', 'old judge 1']);
  });

  it('workers that take other items than before pay for no finished one again (R-22, R-8)', async () => {
    const body = `const queue = [0, 1, 2, 3, 4, 5], done = []
const work = async () => { while (queue.length > 0) { const item = queue.shift(); done[item] = await agent('item ' + item, { label: 'item ' + item }) } }
await Promise.all([work(), work(), work()])
return done`;
    const last = Promise.withResolvers<void>();
    const runId = await firstLaunch(body, 5, async (label) => {
      if (label === 'item 1') return NEVER;
      if (label === 'item 5') last.resolve();
      if (label === 'item 2') await last.promise;
      return said(label);
    });
    const { asked, result } = await nextLaunch(runId);
    expect(asked).toEqual(['item 1']);
    expect(result).toEqual(['old item 0', 'new item 1', ...[2, 3, 4, 5].map((item) => `old item ${item}`)]);
  });

  it('a script edited in between gives its answers on, in that launch and the next (R-22, R-11)', async () => {
    const runId = await firstLaunch(JUDGES, Number.POSITIVE_INFINITY, said);
    const edited = `await parallel([() => 1])
return await Promise.all([0, 1, 2].map(async (i) => { await agent('draft ' + i, { label: 'd' + i }); return agent('judge', { label: 'j' + i }) }))`;
    const first = await nextLaunch(runId, edited);
    expect(first.asked).toEqual([]);
    expect((first.result as string[]).toSorted()).toEqual(['old judge 0', 'old judge 1', 'old judge 2']);
    expect((await nextLaunch(runId)).asked).toEqual([]);
  });
});
