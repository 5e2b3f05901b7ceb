import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { ConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { ConversationMessage, Turn } from '../../agents/model-turns.ts';
import { createMcpTools } from '../../agents/tools/mcp-tools.ts';
import { createPermissions } from '../../agents/tools/permissions/permissions.ts';
import { createRunStore } from '../../cache/run-store.ts';
import { createLineWriter } from '../../emitters/slow-reader.ts';
import { openSession } from '../../hosts/stdio/open-session.ts';
import { serveStdio } from '../../hosts/stdio/serve-stdio.ts';
import type { SessionFacts } from '../../hosts/stdio/session-facts.ts';
import type { SessionHooks } from '../../hosts/stdio/session-hooks.ts';
import { createBackgroundRuns } from '../../hosts/workflow-tool/background-runs.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { createRedactor } from '../../runtime/redact.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { answeringBackend } from './answering-backend.ts';

export type SessionLine = Readonly<Record<string, unknown>> & { readonly type: string; readonly subtype?: string };

export interface InProcessSession {
  readonly input: PassThrough;
  /** Lines that the client has read. */
  readonly lines: readonly SessionLine[];
  readonly notes: readonly string[];
  say(text: string): void;
  /** The client reads so many more lines, and then stops again. */
  read(lines: number): void;
  /** Runs that have ended. */
  ended(): number;
  /** Bytes that the client has not read and that wait in this process. */
  unread(): number;
  /** Resolves when all that the client caused is over, every line read or its reader gone. */
  readonly over: Promise<void>;
  /** Nobody reads the output any more. */
  hangUp(): void;
}

export interface InProcessSessionOptions {
  /** Bodies of saved workflows by their names. */
  readonly workflows: Readonly<Record<string, string>>;
  readonly backend?: AgentBackend;
  readonly model?: ConversationModel;
  readonly hooks?: SessionHooks;
  /** Lines that the client reads before it stops. @defaultValue all */
  readonly reads?: number;
}

/** A stdio session in this process, its client at the other end of two streams. Its place is removed after the test. */
export function openInProcessSession(options: InProcessSessionOptions): InProcessSession {
  const { workflows, backend = answeringBackend(), model, hooks, reads = Number.POSITIVE_INFINITY } = options;
  const root = mkdtempSync(join(tmpdir(), 'wf-session-'));
  const cwd = join(root, 'work');
  mkdirSync(join(cwd, '.wf/workflows'), { recursive: true });
  for (const [name, body] of Object.entries(workflows)) {
    const text = `export const meta = { name: '${name}', description: 'a test' }\n${body}\n`;
    writeFileSync(join(cwd, '.wf/workflows', `${name}.js`), text);
  }
  const client = new SlowClient(reads);
  const writer = createLineWriter(client.stream, { closeWithinMs: 60_000 });
  const facts: SessionFacts = {
    sessionId: 'test-session',
    cwd,
    workflows: [],
    tools: model === undefined ? [] : ['Workflow', 'TaskStop'],
    mcpServers: () => [],
    agentTypes: [],
    modelId: model?.modelId,
    apiKeySource: 'none',
  };
  const settings = {
    permissionMode: 'default',
    modelName: undefined,
    systemPrompt: undefined,
    appendedPrompt: undefined,
  };
  const notes: string[] = [];
  let ended = 0;
  const opened = openSession({
    facts,
    settings,
    source: 'startup',
    dialect: 'claude',
    includeSource: true,
    partialMessages: false,
    replayUserMessages: false,
    maxTurns: undefined,
    maxRetries: 0,
    canAsk: false,
    allowedTools: [],
    refusal: undefined,
    model,
    stored: { messages: [], append: async () => {} },
    mcp: { mcpTools: createMcpTools({ cwd, env: {}, version: '0' }), permissions: () => createPermissions() },
    hooks,
    redactor: createRedactor([]),
    clock: systemClock,
    prices: { asOf: '2026-01-01', models: {} },
    random: () => 0,
    openRuns: ({ sinksFor }) =>
      createBackgroundRuns({
        store: createRunStore({ root: join(root, 'state') }),
        backend,
        cwd,
        homeDirectory: join(root, 'home'),
        sinksFor,
        onEnd: () => {
          ended += 1;
        },
      }),
    write: (line, critical, supersedes) => writer.write(line, critical, supersedes),
    onResult: () => {},
    onProblem: (error) => notes.push(String(error)),
  });
  const input = new PassThrough();
  const served = serveStdio({ ...opened, input, facts, settings, onSkipped: (why) => notes.push(why) });
  const over = served
    .then(() => opened.session.done)
    .then(() => opened.runs.close())
    .then(() => writer.close());
  onTestFinished(async () => {
    client.hangUp();
    opened.session.shutDown();
    await opened.runs.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  });
  return {
    input,
    lines: client.lines,
    notes,
    say: (text) => void input.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`),
    read: (lines) => client.read(lines),
    ended: () => ended,
    unread: () => client.stream.writableLength,
    over,
    hangUp: () => client.hangUp(),
  };
}

/** Reads as many lines as it was told, and leaves the others to the writer. */
class SlowClient {
  readonly lines: SessionLine[] = [];
  readonly stream: Writable;
  #left: number;
  #waiting: (() => void) | undefined;

  constructor(reads: number) {
    this.#left = reads;
    this.stream = new Writable({
      highWaterMark: 16_384,
      write: (chunk: Buffer, _encoding, done) => {
        const take = (): void => {
          this.#left -= 1;
          this.lines.push(JSON.parse(chunk.toString()) as SessionLine);
          done();
        };
        if (this.#left > 0) take();
        else this.#waiting = take;
      },
    });
    this.stream.on('error', () => {});
  }

  read(lines: number): void {
    this.#left += lines;
    const take = this.#waiting;
    this.#waiting = undefined;
    take?.();
  }

  hangUp(): void {
    this.stream.destroy(new Error('EPIPE'));
  }
}

/** A model whose messages a test makes up from what it was last told. */
export function plannedModel(
  answer: (told: string, history: readonly ConversationMessage[]) => string,
): ConversationModel {
  return {
    modelId: (name = 'planned') => name,
    turns: async () => ({
      send: (history): Turn => {
        const last = history.at(-1);
        const told = last?.role === 'user' ? (last.text ?? '') : '';
        return {
          type: 'message',
          blocks: [{ type: 'text', text: answer(told, history) }],
          stopReason: 'end_turn',
          usage: { inputTokens: 1, outputTokens: 1 },
        };
      },
    }),
  };
}
