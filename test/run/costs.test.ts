import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAnthropicBackend } from '../../agents/anthropic/anthropic-backend.ts';
import { createSimulatedBackend } from '../../agents/simulated/simulated-backend.ts';
import { projectStreamJson } from '../../emitters/stream-json.ts';
import { renderTaskNotification } from '../../emitters/task-notification.ts';
import { createTextEmitter } from '../../emitters/text.ts';
import { type CoreEvent, coreEventSchema } from '../../protocol/core-event.ts';
import { runOutputSchema } from '../../protocol/run-record.ts';
import { createRunSummary } from '../../protocol/run-summary.ts';
import { resumeWorkflow } from '../../runtime/resume-workflow.ts';
import type { StartOptions } from '../../runtime/run-options.ts';
import { runWorkflow } from '../../runtime/run-workflow.ts';
import { startFakeApi } from '../support/fake-messages-api.mjs';
import { temporaryStore } from '../support/temporary-store.ts';

const store = temporaryStore();
const usage = {
  input_tokens: 100_000,
  output_tokens: 10_000,
  cache_read_input_tokens: 800_000,
  cache_creation_input_tokens: 100_000,
};
const api = await startFakeApi({
  rules: {
    rules: [{ match: 'BAD', reply: [{ error: { status: 400, message: 'no' } }] }],
    default: [{ text: 'ok', usage }],
  },
});
afterAll(() => api.close());

/** `claude-sonnet-5-5` costs 2, 10, 2.5 and 0.1. */
const ONE_AGENT = 0.1 * 2 + 0.01 * 10 + 0.8 * 0.1 + 0.1 * 2.5;

function run(body: string, options: Partial<StartOptions> = {}) {
  const backend = createAnthropicBackend({ apiKey: 'fake', baseUrl: api.url, model: 'sonnet' });
  const script = `export const meta = { name: 'test', description: 'a test' }\n${body}\n`;
  return runWorkflow({ store, backend, script, ...options });
}

function fileOf(runId: string, name: string): Record<string, unknown>[] {
  const lines = readFileSync(join(store.root, 'runs', runId, name), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const TWO_PHASES = `phase('Find'); await agent('a', { label: 'finder' }); phase('Fix'); await agent('b'); await agent('c', { model: 'haiku' }); return 1`;
/** `claude-haiku-5-5` above 100,000 tokens costs 0.5, 2.5, 0.625 and 0.05. */
const HAIKU = 0.1 * 0.5 + 0.01 * 2.5 + 0.8 * 0.05 + 0.1 * 0.625;

describe('what a run costs', () => {
  it('stays within a budget of dollars in a fan-out, which says once that it was met (A-16, S-13)', async () => {
    const body = `return parallel(Array.from({ length: 9 }, (_, i) => () => agent('part ' + i)))`;
    const { output, runId } = await run(body, { concurrency: 2, limits: { budgetUsd: 1.5 * ONE_AGENT } });
    const { agents_done, agents_cancelled } = output.census;
    expect(agents_done).toBeLessThanOrEqual(3);
    expect(agents_done + agents_cancelled).toBe(9);
    expect(output).toMatchObject({ status: 'failed', error: { code: 'LIMIT_BUDGET' } });
    expect(fileOf(runId, 'events.ndjson').filter(({ type }) => type === 'limit')).toHaveLength(1);
  });

  it('is told for the run, each phase and each agent, in the output and the events (A-16, E-1)', async () => {
    const ended = await run(TWO_PHASES);
    const total = expect.closeTo(2 * ONE_AGENT + HAIKU, 6);
    const output = runOutputSchema.parse(JSON.parse(readFileSync(ended.outputFile, 'utf8')));
    expect(output.usage).toMatchObject({ cost_usd: total, cache_read_tokens: 2_400_000, cache_write_tokens: 300_000 });
    expect(output.costs).toMatchObject({
      phases: [
        { title: 'Find', cost_usd: expect.closeTo(ONE_AGENT, 6) },
        { title: 'Fix', cost_usd: expect.closeTo(ONE_AGENT + HAIKU, 6) },
      ],
      agents: [{ label: 'finder', cost_usd: expect.closeTo(ONE_AGENT, 6) }, { label: 'b' }, { label: 'c' }],
    });
    const events = fileOf(ended.runId, 'events.ndjson') as unknown as CoreEvent[];
    for (const event of events) expect(coreEventSchema.safeParse(event).error?.message).toBeUndefined();
    const summary = createRunSummary();
    for (const event of events) summary.apply(event);
    expect(summary.agents.map(({ costUsd }) => costUsd)).toEqual(
      [ONE_AGENT, ONE_AGENT, HAIKU].map((cost) => expect.closeTo(cost, 6)),
    );
    expect(summary.usage().cost_usd).toEqual(total);
  });

  it('is in the text, the lines of stream-json and the notification (E-5, E-16)', async () => {
    const ended = await run(TWO_PHASES);
    const events = fileOf(ended.runId, 'events.ndjson') as unknown as CoreEvent[];
    let text = '';
    const emitter = createTextEmitter({
      write: (piece) => {
        text += piece;
      },
      isTty: false,
      width: () => 80,
      color: false,
      quiet: false,
    });
    for (const event of events) emitter.handle(event);
    expect(text).toContain('✓ finder');
    expect(text).toMatch(/tokens, \$0\.63\)/);
    expect(text).toMatch(/Completed: .*, \$1\.44$/m);
    expect(text).toContain('spent: Find $0.63, Fix $0.81');
    const lines = projectStreamJson(events, {
      taskId: 't',
      sessionId: 's',
      dialect: 'claude',
      includeSource: false,
    }).map((line) => JSON.parse(line));
    const last = lines.findLast(({ subtype }) => subtype === 'task_progress');
    const agents = last.workflow_progress.filter(({ type }: { type: string }) => type === 'workflow_agent');
    expect(agents.map(({ costUsd }: { costUsd: number }) => costUsd)).toEqual([0.63, 0.63, 0.1775]);
    expect(last.usage.cost_usd).toBe(1.4375);
    const notified = lines.find(({ subtype }) => subtype === 'task_notification');
    expect(notified).toMatchObject({
      usage: { cost_usd: 1.4375 },
      costs: { phases: [{ title: 'Find', cost_usd: 0.63 }, { title: 'Fix' }] },
    });
    expect(notified.summary).toContain('$1.44');
    const notification = renderTaskNotification({
      taskId: 't',
      summary: 's',
      output: ended.output,
      resultJson: '1',
      outputFile: 'f',
      diagnostics: [],
    });
    expect(notification).toContain('<cost_usd>1.4375</cost_usd>');
  });

  it('of a model without a known price is unknown, which is said, and not 0 (A-16)', async () => {
    const ended = await run("await agent('a'); await agent('b', { model: 'some-model' }); return 1");
    expect(ended.output.usage).toMatchObject({ cost_usd: null, cost_at_least_usd: expect.closeTo(ONE_AGENT, 6) });
    expect(ended.output.logs).toContainEqual({
      level: 'warn',
      text: expect.stringMatching(/model some-model.*--prices/),
    });
    const given = {
      asOf: '2026-01-01',
      models: { 'some-model': { input: 1, output: 1, cacheWrite: 1, cacheRead: 1 } },
    };
    const priced = await run("await agent('b', { model: 'some-model' }); return 1", { prices: given });
    expect(priced.output.usage.cost_usd).toBe(1.01);
  });

  it('is left out where agents cost nothing (A-24)', async () => {
    const ended = await run("return agent('a')", { backend: createSimulatedBackend(), limits: { budgetUsd: 0.01 } });
    expect(ended.output.status).toBe('completed');
    expect(JSON.stringify([ended.output, fileOf(ended.runId, 'events.ndjson')])).not.toMatch(
      /cost_usd|costUsd|prices/i,
    );
  });

  it('stays with the results, so that a resume tells the whole spend (R-4, A-16)', async () => {
    const body = "await agent('BAD'); await agent('a'); return agent('b')";
    const first = await run(body, { limits: { maxAgents: 2 } });
    expect(first.output.status).toBe('failed');
    const rows = fileOf(first.runId, 'journal.jsonl');
    expect(rows.find(({ type }) => type === 'result')).toMatchObject({
      usage: { cost_usd: expect.closeTo(ONE_AGENT, 6) },
    });
    expect(rows.find(({ type }) => type === 'failed')).toMatchObject({ cost_usd: 0 });
    const backend = createAnthropicBackend({ apiKey: 'fake', baseUrl: api.url, model: 'sonnet' });
    const handle = await resumeWorkflow({ store, backend, runId: first.runId });
    const { output } = await handle.done;
    expect(output.usage).toMatchObject({
      cost_usd: expect.closeTo(ONE_AGENT, 6),
      total_cost_usd: expect.closeTo(2 * ONE_AGENT, 6),
    });
  });
});

describe('a budget in dollars', () => {
  it('ends the run as a budget of tokens does: who is at work finishes, and nobody starts (A-16)', async () => {
    const before = api.stats.requests;
    const ended = await run("for (let i = 0; i < 9; i++) await agent('a' + i)", {
      limits: { budgetUsd: ONE_AGENT * 1.5 },
      resumeCommand: (_runId, limitsHit) => JSON.stringify(limitsHit.map(({ data }) => data)),
    });
    expect(JSON.parse(ended.output.resume ?? '')).toEqual([{ spentUsd: 1.26, budgetUsd: ONE_AGENT * 1.5 }]);
    expect(ended.output).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_BUDGET' },
      limits_hit: ['LIMIT_BUDGET'],
    });
    expect(ended.output.error?.message).toMatch(/spent \$1\.26 of its budget of \$0\.945.*--budget-usd/);
    expect(api.stats.requests - before).toBe(2);
  });

  it('can be caught, and leaves the words about tokens as they are (A-16, S-17)', async () => {
    const ended = await run(
      "await agent('a'); try { await agent('b') } catch (error) { return [error.code, budget.total, budget.spent()] }",
      { limits: { budgetUsd: 0.1 } },
    );
    expect(ended.result).toEqual(['LIMIT_BUDGET', null, 10_000]);
  });

  it('cannot be kept without prices, so no further agent starts (A-16)', async () => {
    const ended = await run("await agent('a', { model: 'x-1' }); return agent('b')", { limits: { budgetUsd: 100 } });
    expect(ended.output.error).toMatchObject({
      code: 'LIMIT_BUDGET',
      message: expect.stringMatching(/x-1 is not known.*--prices/),
    });
  });
});
