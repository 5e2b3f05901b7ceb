import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeApi, startFakeApi } from '../support/fake-messages-api.mjs';
import { type SdkMessage, Transcript } from './transcript.ts';

/** The version that the transcript in the docs was made with. */
const SDK = '@anthropic-ai/claude-agent-sdk@0.3.332';
const TRANSCRIPT = fileURLToPath(new URL('../../docs/hosts/agent-sdk-transcript.ndjson', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../bin/wf.mjs', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../examples/13-drive-from-agent-sdk.mjs', import.meta.url));
const run = promisify(execFile);

const SAVED = `export const meta = { name: 'tea', description: 'Asks how to make tea', phases: [{ title: 'Ask' }] }
phase('Ask')
const steps = await parallel([1, 2].map((n) => () => agent('STEP ' + n + ' of ' + args.kind + ' tea', { label: 'step ' + n })))
return steps.join(', then ')
`;
const MADE = `export const meta = { name: 'made', description: 'Written by the model' }
return await agent('STEP 3 of any tea')`;
const twoSteps = (
  name: string,
): string => `export const meta = { name: '${name}', description: 'A quick agent and a slow one' }
const quick = await agent('STEP 1 for ${name}')
return [quick, await agent('WAIT for ${name}')]`;
const launch = (input: object): object => ({ tool: { name: 'Workflow', input } });
const past = { text: 'said before' };
const CONVERSATION = [
  ...[past, past, { text: 'The tea is ready.' }],
  ...[launch({ script: MADE }), { text: 'My workflow runs.' }, { text: 'My workflow is done.' }],
  ...[
    { blocks: [launch({ script: twoSteps('first') }), launch({ script: twoSteps('second') })] },
    { text: 'Both run.' },
  ],
  { text: 'The second one is done, the first one was stopped.' },
];
const AGENTS = [
  { match: '^STEP (\\d) (.*)', reply: [{ text: 'step $1 $2' }] },
  { match: '^WAIT for second', reply: [{ text: 'at last', delayMs: 1_500 }] },
];

let api: FakeApi;
let folder: string;
let env: NodeJS.ProcessEnv;
// biome-ignore lint/suspicious/noExplicitAny: the SDK is installed by this test, so its types are not there at build time
let sdk: any;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wf-agent-sdk-'));
  for (const name of ['work/.wf/workflows', 'home']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'work/.wf/workflows/tea.js'), SAVED);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await install();
  sdk = await import(
    /* @vite-ignore */ pathToFileURL(join(folder, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs')).href
  );
  api = await startFakeApi({
    rules: [
      ...AGENTS,
      { match: '^WAIT for first', reply: [{ text: 'never', delayMs: 60_000 }] },
      { match: '^/tea', reply: CONVERSATION },
    ],
  });
  env = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: join(folder, 'home'),
    ANTHROPIC_API_KEY: 'sk-ant-api03-not-a-real-key-at-all',
    ANTHROPIC_BASE_URL: api.url,
  };
}, 120_000);
afterAll(async () => {
  await api?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** From npm, as a user would, without the binary that it would drive otherwise. */
async function install(): Promise<void> {
  const flags = ['--omit=optional', '--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    await run('npm', ['install', ...flags, SDK], { cwd: folder, timeout: 100_000 });
  } catch (error) {
    throw new Error(`${SDK} could not be installed from npm, which this test needs: ${(error as Error).message}`);
  }
}

/** What a client says, one message after the other, until it closes the conversation. */
class Prompts implements AsyncIterable<object> {
  #waiting: object[] = [];
  #wake: () => void = () => {};
  #closed = false;

  say(text: string): void {
    this.#waiting.push({
      type: 'user',
      message: { role: 'user', content: text },
      parent_tool_use_id: null,
      session_id: '',
    });
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<object> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#closed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

describe('the public Claude Agent SDK', () => {
  it('runs workflows with wf as its program, stops one of two, and resumes it (H-9, H-7, E-11)', async () => {
    const prompts = new Prompts();
    const transcript = new Transcript(folder);
    const questions: string[] = [];
    const query = sdk.query({
      prompt: prompts,
      options: {
        pathToClaudeCodeExecutable: PROGRAM,
        executable: 'node',
        cwd: join(folder, 'work'),
        env,
        permissionMode: 'default',
        canUseTool: async (name: string, input: unknown) => {
          questions.push(name);
          return { behavior: 'allow', updatedInput: input };
        },
      },
    });
    const reading = (async () => {
      for await (const message of query as AsyncIterable<SdkMessage>) transcript.take(message);
    })();

    transcript.step('The client runs a saved workflow by its name.');
    prompts.say('/tea {"kind":"green"}');
    await transcript.until(() => transcript.followUps === 1);
    expect((await query.supportedCommands()).map(({ name }: { name: string }) => name)).toContain('tea');

    transcript.step(
      'The client asks for something, and the model writes a workflow for it. The client is asked, and allows it.',
    );
    prompts.say('Write a workflow of your own.');
    await transcript.until(() => transcript.followUps === 2);
    expect(questions).toEqual(['Workflow']);

    transcript.step('The model starts two workflows at once; the client stops the first one.');
    prompts.say('Run two at once.');
    const first = await transcript.until(() => transcript.workingTask('first', 'WAIT for first'));
    await query.stopTask(first);
    await transcript.until(() => transcript.followUps === 3 && transcript.ends === 4);

    transcript.step('The model goes on with the one that was stopped: what had finished is not paid for again.');
    const depth = CONVERSATION.length + 1;
    const resume = [
      ...Array(depth - 1).fill(past),
      launch({ resumeFromRunId: first }),
      { text: 'It goes on.' },
      { text: 'It is done too.' },
    ];
    api.reset([...AGENTS, { match: '^WAIT for first', reply: [{ text: 'now' }] }, { match: '^/tea', reply: resume }]);
    prompts.say('Go on with the first one.');
    await transcript.until(() => transcript.followUps === 4);
    expect(api.stats.calls.filter(({ prompt }) => prompt.includes('for first')).map(({ prompt }) => prompt)).toEqual([
      'WAIT for first',
    ]);

    const receipt = await query.interrupt();
    expect(receipt).toEqual({ still_queued: [] });
    prompts.close();
    await reading;
    expect(new Set(transcript.taskKinds)).toEqual(
      new Set(['task_started', 'task_progress', 'task_updated', 'task_notification']),
    );
    expect(api.stats.refused).toEqual([]);
    await expect(transcript.toText()).toMatchFileSnapshot(TRANSCRIPT);
  }, 60_000);

  it('the program in the docs runs as it stands there (H-9)', async () => {
    copyFileSync(EXAMPLE, join(folder, 'drive.mjs'));
    api.reset([...AGENTS, { match: '^/tea', reply: [past, past, { text: 'The tea is ready.' }] }]);
    const { stdout } = await run(process.execPath, [join(folder, 'drive.mjs')], {
      cwd: join(folder, 'work'),
      env: { ...env, WF: PROGRAM },
    });
    expect(stdout).toMatch(/tea: started\n[\s\S]*tea: completed\nThe tea is ready\.\n$/);
  }, 30_000);
});
