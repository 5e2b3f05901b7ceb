import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { planResume } from '../../runtime/replay/plan-resume.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import { runWorkflow } from '../../runtime/run-workflow.ts';
import { answeringBackend } from '../support/answering-backend.ts';
import { temporaryStore } from '../support/temporary-store.ts';

const store = temporaryStore();
const script = (body: string): string => `export const meta = { name: 'plan', description: 'a test' }\n${body}\n`;

async function firstRun(body: string, dead: RegExp = /$^/) {
  const prompts = new Map<string, string>();
  const backend = answeringBackend(({ prompt, agentId }) => {
    prompts.set(agentId, prompt);
    return dead.test(prompt) ? new WorkflowError('AGENT_API', 'overloaded') : `answer to ${prompt}`;
  });
  const { runId } = await runWorkflow({ store, backend, script: script(body) });
  return { runId, promptOf: async (agentId: string) => prompts.get(agentId) };
}

describe('planResume', () => {
  it('says of each call whether it is a hit, and why it is not, and what the rest will cost (R-25)', async () => {
    const { runId } = await firstRun(`return await parallel([0, 1, 2, 3].map((i) => () => agent('JOB ' + i)))`, /[13]/);
    const plan = await planResume({ store, runId });
    expect(plan.calls.map(({ label, cached }) => [label, cached])).toEqual([
      ['JOB 0', true],
      ['JOB 1', false],
      ['JOB 2', true],
      ['JOB 3', false],
    ]);
    expect(plan.calls[1]?.reason).toMatch(/failed before: overloaded/);
    expect(plan).toMatchObject({
      cached: 2,
      toRun: 2,
      complete: false,
      estimate: { inputTokens: 20, outputTokens: 10 },
    });
  });

  it('names the character at which a prompt differs, a changed option and a new call (R-25)', async () => {
    const { runId, promptOf } = await firstRun(
      `return [await agent('Sum up the plan', { label: 'sum' }), await agent('same words', { label: 'opt' })]`,
    );
    const edited = script(
      `return await Promise.all([agent('Sum up the test', { label: 'sum' }), agent('same words', { label: 'opt', effort: 'high' }), agent('else', { label: 'fresh' })])`,
    );
    const plan = await planResume({ store, runId, script: edited, promptOf });
    expect(plan.calls.map(({ reason }) => reason)).toEqual([
      'its prompt differs at character 12',
      'its options changed',
      'never started',
    ]);
  });

  it('refuses a run whose journal was lost, as its resume does, unless all is to be paid again (R-6)', async () => {
    const { runId } = await firstRun("return await agent('dear')");
    const { path } = await store.open(runId).then(async (run) => run.close().then(() => run));
    writeFileSync(join(path, 'journal.jsonl'), '');
    const lost = { code: 'REPLAY_JOURNAL_CORRUPT', message: expect.stringMatching(/had 1 result.*--salvage/s) };
    const backend = answeringBackend(() => 'again');
    await expect(planResume({ store, runId })).rejects.toMatchObject(lost);
    await expect(resumeWorkflow({ store, backend, runId })).rejects.toMatchObject(lost);
    const resumed = await resumeWorkflow({ store, backend, runId, salvage: true });
    expect((await resumed.done).resultJson).toBe('"again"');
  });

  it('follows the script through stored answers to its end (R-25)', async () => {
    const { runId } = await firstRun(
      `const a = await agent('one'); const b = await agent('two after ' + a); return [a, b]`,
    );
    expect(await planResume({ store, runId })).toMatchObject({ cached: 2, toRun: 0, complete: true });
  });

  it('writes nothing (R-25)', async () => {
    const { runId } = await firstRun(`return await agent('x')`, /x/);
    const directory = join(store.root, 'runs', runId);
    const before = ['journal.jsonl', 'events.ndjson', 'run.json', 'script.js'].map((name) =>
      readFileSync(join(directory, name), 'utf8'),
    );
    await planResume({ store, runId, script: script(`return await agent('y')`) });
    const after = ['journal.jsonl', 'events.ndjson', 'run.json', 'script.js'].map((name) =>
      readFileSync(join(directory, name), 'utf8'),
    );
    expect(after).toEqual(before);
  });
});
