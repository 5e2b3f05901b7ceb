import { describe, expect, it } from 'vitest';
import { Asker } from '../../../../hosts/script-author/ask-backend.ts';
import { estimateAgents } from '../../../../hosts/script-author/estimate-agents.ts';
import { scriptInAnswer } from '../../../../hosts/script-author/script-in-answer.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import type { AgentReporter } from '../../../../runtime/ports.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';
import { answeringBackend } from '../../../support/answering-backend.ts';

const META = "export const meta = { name: 'n', description: 'd' }\n";
const script = (body: string) => parseScript(META + body, { fileName: 'a.js' });

describe('the script in an answer', () => {
  it.each([
    ['bare', `${META}return 1`],
    ['fenced', `\`\`\`js\n${META}return 1\n\`\`\``],
    ['with words around it', `Here:\n\n~~~\n${META}return 1\n~~~\nGood luck!`],
    ['after a draft', `\`\`\`js\n${META}return 0\n\`\`\`\nBetter:\n\`\`\`js\n${META}return 1\n\`\`\``],
    ['beside other code', `\`\`\`sh\nls\n\`\`\`\n\`\`\`js\n${META}return 1\n\`\`\`\n\`\`\`json\n{}\n\`\`\``],
  ])('is found: %s (C-4)', (_, answer) => {
    expect(scriptInAnswer(answer)).toBe(`${META}return 1\n`);
  });

  it('keeps fences that are part of its prompts (C-4)', () => {
    const text = `${META}return agent(\`Answer so:\n\\\`\\\`\\\`\nx\n\\\`\\\`\\\`\`)\n`;
    expect(scriptInAnswer(text)).toBe(text);
  });
});

describe('the estimate of agents', () => {
  it('counts those of a rehearsal, by phase (C-4)', async () => {
    const body =
      "phase('A'); await agent('a'); phase('B'); await parallel([1, 2].map((n) => () => agent('b' + n))); return 1";
    expect(await estimateAgents(script(body), undefined, {})).toEqual({
      agents: 3,
      phases: [
        { title: 'A', agents: 1 },
        { title: 'B', agents: 2 },
      ],
      complete: true,
    });
  });

  it('says so when the rehearsal did not get to the end (C-4)', async () => {
    const body = "await agent('a'); throw new Error('made-up answers do not do')";
    expect(await estimateAgents(script(body), undefined, {})).toMatchObject({ agents: 1, complete: false });
    const endless = "for (;;) await agent('again')";
    expect(await estimateAgents(script(endless), undefined, {})).toMatchObject({ agents: 1000, complete: false });
  });

  it('gives the rehearsal the args (C-4)', async () => {
    const body = "await parallel(args.map((n) => () => agent('b' + n))); return 1";
    expect(await estimateAgents(script(body), '[1,2,3,4]', {})).toMatchObject({ agents: 4, complete: true });
  });
});

describe('a question to a backend outside of a run', () => {
  function asker(run: (report: AgentReporter) => Promise<string>, retries: number[] = []) {
    const backend = {
      ...answeringBackend(),
      run: async (_request: unknown, _signal: unknown, report: AgentReporter) => ({
        valueJson: JSON.stringify(await run(report)),
        empty: false,
        usage: { inputTokens: 1, outputTokens: 2 },
        toolUses: 0,
        attempts: 0,
      }),
    };
    return new Asker({
      backend,
      cwd: process.cwd(),
      maxRetries: 2,
      signal: new AbortController().signal,
      onRetry: (delayMs) => retries.push(delayMs),
    });
  }

  it('is asked again after transient failures, as often as is allowed (A-13, C-4)', async () => {
    const retries: number[] = [];
    const failing = asker(async (report) => {
      for (;;) await report.retry({ message: 'busy', retryAfterMs: 1 });
    }, retries);
    await expect(failing.ask('x')).rejects.toMatchObject({ code: 'AGENT_API' });
    expect(retries).toHaveLength(2);
  });

  it('passes a refusal on, and waits for no reset of a quota (A-20, C-4)', async () => {
    const refused = asker(() => Promise.reject(new WorkflowError('AGENT_AUTH', 'no')));
    await expect(refused.ask('x')).rejects.toMatchObject({ code: 'AGENT_AUTH' });
    const limited = asker(async (report) => {
      await report.retry({ message: 'limit', retryAfterMs: 3_600_000 });
      return '';
    });
    await expect(limited.ask('x')).rejects.toMatchObject({ code: 'AGENT_QUOTA' });
  });
});
