import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSimulatedBackend } from '../../../../agents/simulated/simulated-backend.ts';
import { SCRIPT_LANGUAGE } from '../../../../hosts/workflow-tool/script-language.ts';
import { WORKFLOW_TOOL_DESCRIPTION } from '../../../../hosts/workflow-tool/tool-description.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../../../runtime/ports.ts';
import { runWorkflow } from '../../../../runtime/run-workflow.ts';
import { checkScript } from '../../../../runtime/script/check-script.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';
import { answeringBackend } from '../../../support/answering-backend.ts';
import { temporaryStore } from '../../../support/temporary-store.ts';

const snippets = [...WORKFLOW_TOOL_DESCRIPTION.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
  text,
  name: parseScript(text, { fileName: 'snippet.js' }).meta.name,
}));
const textOf = (name: string): string => snippets.find((one) => one.name === name)?.text ?? '';
const store = temporaryStore();
const down = (): Error => new WorkflowError('AGENT_API', 'down');

it('the description has the three patterns, each a whole script (H-4)', () => {
  expect(snippets.map(({ name }) => name)).toEqual(['answer-from-angles', 'review-files', 'find-all']);
  expect(WORKFLOW_TOOL_DESCRIPTION).toContain(SCRIPT_LANGUAGE);
});

it('the description is as long as embed.md says (H-4)', () => {
  const page = readFileSync(new URL('../../../../docs/hosts/embed.md', import.meta.url), 'utf8');
  const [, said = ''] = /it has about ([\d,]+) characters/.exec(page) ?? [];
  expect(Number(said.replace(',', ''))).toBe(Math.round(WORKFLOW_TOOL_DESCRIPTION.length / 1_000) * 1_000);
});

it.each(snippets)('the snippet $name passes wf check without a warning, and completes (H-4)', async ({ text }) => {
  expect(checkScript(parseScript(text, { fileName: 'snippet.js' }))).toEqual([]);
  const run = await runWorkflow({ store, backend: createSimulatedBackend(), script: text });
  expect(run.output).toMatchObject({
    status: 'completed',
    failures: [],
    logs: expect.not.arrayContaining([{ level: 'warn' }]),
  });
  expect(run.output.census.agents_done).toBeGreaterThan(2);
});

it.each(snippets)(
  'the snippet $name completes when every agent dies, and says what it lacks (H-4)',
  async ({ text }) => {
    const run = await runWorkflow({ store, backend: answeringBackend(down), script: text });
    expect(run.output.status).toBe('completed');
    expect(JSON.stringify(run.result)).toMatch(/"missing":\["|"notReviewed":\["|"complete":false/);
  },
);

describe('what the patterns make of scripted answers', () => {
  it('fan out: names the angle that died (H-4)', async () => {
    const backend = answeringBackend(({ prompt, label }) => {
      if (label === 'merge') return `merged ${(prompt.match(/"text"/g) ?? []).length}`;
      return label.includes('tests') ? down() : `from ${label}`;
    });
    const run = await runWorkflow({ store, backend, script: textOf('answer-from-angles'), argsJson: '"why?"' });
    expect(run.result).toEqual({ question: 'why?', answer: 'merged 2', missing: ['what its tests prove'] });
  });

  it('pipeline: keeps what was confirmed, and tells what nobody checked (H-4)', async () => {
    const backend = answeringBackend(({ label }: AgentRequest) => {
      if (label === 'review a') return { findings: ['1', '2', '3'].map((title) => ({ title, detail: 'd' })) };
      if (label === 'review b') return down();
      return label === 'check 3' ? down() : { real: label === 'check 1', why: 'w' };
    });
    const run = await runWorkflow({ store, backend, script: textOf('review-files'), argsJson: '{"files":["a","b"]}' });
    expect(run.result).toMatchObject({
      confirmed: [{ title: '1', file: 'a' }],
      unchecked: [{ title: '3' }],
      notReviewed: ['b'],
    });
  });

  it('loop until dry: stops after two rounds without news (H-4)', async () => {
    const backend = answeringBackend(({ label }) => ({
      items: label === 'search 1.1' ? ['a:1 x', 'b:2 y'] : ['a:1 x'],
    }));
    const run = await runWorkflow({ store, backend, script: textOf('find-all'), argsJson: '"bugs"' });
    expect(run.result).toEqual({ items: ['a:1 x', 'b:2 y'], rounds: 3, complete: true, searchersLost: 0 });
  });
});

it('the description names every word and option of the language (H-4)', () => {
  const words = ['agent', 'parallel', 'pipeline', 'phase', 'log', 'args', 'budget', 'workflow', 'meta'];
  const options =
    'label phase schema model effort agentType tools disallowedTools isolation maxTurns timeoutMs stallMs lane'.split(
      ' ',
    );
  for (const word of words) expect(WORKFLOW_TOOL_DESCRIPTION).toMatch(new RegExp(`\`${word}|### ${word}|${word}:`));
  for (const option of options) expect(WORKFLOW_TOOL_DESCRIPTION).toContain(`\`${option}`);
});

it('the description is brief: it stands in every conversation (H-4)', () => {
  expect(WORKFLOW_TOOL_DESCRIPTION.length).toBeLessThan(12_000);
});
