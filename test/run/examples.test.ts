import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadResponsesFile } from '../../agents/scripted/load-responses-file.ts';
import { createScriptedBackend } from '../../agents/scripted/scripted-backend.ts';
import { createSimulatedBackend } from '../../agents/simulated/simulated-backend.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { runWorkflow } from '../../runtime/run-workflow.ts';
import { checkScript } from '../../runtime/script/check-script.ts';
import { parseScript } from '../../runtime/script/parse-script.ts';
import { temporaryStore } from '../support/temporary-store.ts';

const folder = fileURLToPath(new URL('../../examples', import.meta.url));
const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
const programs = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
const store = temporaryStore();

function countingBackend(): AgentBackend & { readonly calls: () => number } {
  const inner = createSimulatedBackend();
  let calls = 0;
  return {
    ...inner,
    calls: () => calls,
    run: (request, signal, report) => {
      calls += 1;
      return inner.run(request, signal, report);
    },
  };
}

const start = (name: string, backend: AgentBackend, budget: number | null = null) => {
  const scriptPath = join(folder, name);
  return runWorkflow({ store, backend, script: readFileSync(scriptPath, 'utf8'), scriptPath, limits: { budget } });
};

describe('the examples', () => {
  it.each(scripts)('%s holds what it asserts, and resumes without a call (R-8)', async (name) => {
    const backend = countingBackend();
    const first = await start(name, backend, name.includes('budget') ? 300 : null);
    expect(first.error?.message).toBeUndefined();
    const made = backend.calls();
    const again = await runWorkflow({ store, backend, runId: first.runId });
    expect(again.output.status).toBe('completed');
    if (!name.includes('budget')) expect([backend.calls(), again.result]).toEqual([made, first.result]);
  });

  it.each(scripts)('%s gets no warning from wf check (C-3)', (name) => {
    const script = parseScript(readFileSync(join(folder, name), 'utf8'), { fileName: name });
    expect(checkScript(script)).toEqual([]);
  });

  it('the tournament makes 21 agents, and its second run 21 hits and no call (A-19, R-8)', async () => {
    const backend = countingBackend();
    const first = await start('08-board-game-tournament.js', backend);
    expect([first.output.census.agent_count, backend.calls()]).toEqual([21, 21]);
    const again = await runWorkflow({ store, backend, runId: first.runId });
    expect([again.output.census.agents_cached, backend.calls()]).toEqual([21, 21]);
  });

  it('the planned answers of the docs do to the script of the front page what is said of them (C-12)', async () => {
    const page = readFileSync(join(folder, '../docs/responses.md'), 'utf8');
    const planned = page.match(/^```json\n([\s\S]*?)^```$/m)?.[1] ?? '';
    const { output, result } = await runWorkflow({
      store,
      backend: createScriptedBackend(loadResponsesFile(planned, 'docs/responses.md')),
      script: readFileSync(join(folder, '../test/e2e/fixtures/angles.js'), 'utf8'),
      argsJson: '{"question":"Should we run our own mail server?"}',
    });
    expect(page).toContain(JSON.stringify(result).replaceAll(/([:,])/g, '$1 '));
    expect(output.census).toMatchObject({ agents_done: 3, agents_error: 1 });
    expect(output.failures).toMatchObject([
      { label: 'reliability', message: expect.stringContaining('planned to fail') },
    ]);
  });

  it.each(programs.filter((name) => name.startsWith('09')))(
    '%s runs as a program against the built package',
    async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name)], { encoding: 'utf8' });
      expect(stdout).toMatch(/5 agents, then 5 answers|5 agents: 5 done/);
    },
  );
});
