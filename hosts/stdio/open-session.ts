import { randomUUID } from 'node:crypto';
import type { ConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { Permissions } from '../../agents/tools/permissions/permissions.ts';
import type { StreamJsonDialect } from '../../protocol/stream-json.ts';
import type { PriceTable } from '../../runtime/costs/price-table.ts';
import type { Clock, EventSink, Redactor } from '../../runtime/ports.ts';
import type { LaunchedTask } from '../workflow-tool/background-run.ts';
import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';
import { createHostLines, type HostLines } from './host-lines.ts';
import { createMcpHostTools, type McpHostToolsOptions } from './mcp-host-tools.ts';
import { createPermissionPrompts, type PermissionPrompts } from './permission-prompts.ts';
import { Session } from './session.ts';
import { createSessionCosts } from './session-costs.ts';
import { initFields, type SessionFacts } from './session-facts.ts';
import type { SessionHooks } from './session-hooks.ts';
import type { SessionSettings } from './session-settings.ts';
import { createSlashWorkflows } from './slash-workflows.ts';
import { type SubagentMessage, saySubagentText } from './subagent-text.ts';
import { createTaskFaces } from './task-faces.ts';
import { createTaskStopTool } from './task-stop-tool.ts';
import { TaskWatch } from './task-watch.ts';
import { Transcript, type TranscriptStore } from './transcript.ts';
import { createCallWorkflow, createWorkflowHostTool } from './workflow-host-tool.ts';
import { createWorkflowLauncher } from './workflow-launcher.ts';

export interface OpenSessionOptions {
  readonly facts: SessionFacts;
  readonly settings: SessionSettings;
  readonly source: 'startup' | 'resume';
  readonly dialect: StreamJsonDialect;
  readonly includeSource: boolean;
  readonly partialMessages: boolean;
  readonly replayUserMessages: boolean;
  readonly maxTurns: number | undefined;
  readonly maxRetries: number;
  /** The client answers `can_use_tool`. */
  readonly canAsk: boolean;
  readonly allowedTools: readonly string[];
  /** Why workflows may not run here, if they may not. */
  readonly refusal: string | undefined;
  /** Undefined when no model is configured. */
  readonly model: ConversationModel | undefined;
  readonly stored: TranscriptStore;
  /** Servers whose tools the main conversation may use, and what it may do; see `createMcpHostTools`. */
  readonly mcp: Pick<McpHostToolsOptions, 'mcpTools'> & {
    permissions(prompts: PermissionPrompts): Permissions;
  };
  readonly hooks: SessionHooks | undefined;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** What models cost. */
  readonly prices: PriceTable;
  readonly random: () => number;
  /** Makes what runs workflows, told how their events are shown and how their agents ask. */
  openRuns(parts: RunsParts): BackgroundRuns;
  /** Takes a line without its line feed; see `createLineWriter`. */
  write(line: string, critical: boolean, supersedes: boolean): void;
  /** Sees each `result`. */
  onResult(line: Readonly<Record<string, unknown>>): void;
  /** Something a person should know that ends nothing. */
  onProblem(error: unknown): void;
}

export interface RunsParts {
  sinksFor(task: LaunchedTask): readonly EventSink[];
  readonly prompts: PermissionPrompts;
  /** Shows the client what an agent of one of the runs says. */
  showText(message: SubagentMessage): void;
}

export interface OpenSession {
  readonly session: Session;
  readonly runs: BackgroundRuns;
  readonly watch: TaskWatch;
  readonly prompts: PermissionPrompts;
  readonly lines: HostLines;
  readonly hooks: SessionHooks | undefined;
  readonly transcript: Transcript;
}

/** Puts a session together: its tasks, its tools and its turns. */
export function openSession(options: OpenSessionOptions): OpenSession {
  const { facts, settings, write } = options;
  const newUuid = randomUUID;
  const lines = createHostLines({
    sessionId: facts.sessionId,
    redactor: options.redactor,
    newUuid,
    write: (line, critical) => write(line, critical, false),
    onSay: (line) => {
      if (line['type'] === 'result') options.onResult(line);
    },
  });
  const prompts = createPermissionPrompts({
    lines,
    newUuid,
    onInterrupt() {
      prompts.cancelAll('It was interrupted.');
      session.interrupt();
    },
  });
  const faces = createTaskFaces({ ...options, sessionId: facts.sessionId });
  const runs = options.openRuns({
    sinksFor: faces.sinksFor,
    prompts,
    showText: (message) => saySubagentText(message, faces.toolUseOf(message.runId), lines, newUuid),
  });
  const costs = createSessionCosts(options.prices);
  const watch = new TaskWatch({
    runs,
    onEnded(ended) {
      costs.run(ended);
      session.deliver(ended);
    },
    onStopped(ended, by) {
      costs.run(ended);
      session.noteStopped(ended, by);
    },
    onIdle: () => session.settle(),
  });
  const launcher = createWorkflowLauncher({
    runs,
    shown: faces.shown,
    onLaunched: (run) => watch.add(run),
    onUnwanted: (run) => void watch.stop(run.taskId, 'client', 'The session was interrupted'),
    onSettled: () => session.settle(),
  });
  const callWorkflow = createCallWorkflow(runs, launcher);
  const transcript = new Transcript(options.stored, options.onProblem);
  const session: Session = new Session({
    ...options,
    lines,
    watch,
    launcher,
    transcript,
    newUuid,
    tools: [
      createWorkflowHostTool(callWorkflow, { ...options, prompts }, runs),
      createTaskStopTool(runs, watch),
    ].filter(({ name }) => facts.tools.includes(name)),
    workflows: createSlashWorkflows({ callWorkflow, lines, transcript, newUuid, refusal: options.refusal }),
    moreTools: createMcpHostTools({
      ...options,
      ...options.mcp,
      cwd: facts.cwd,
      permissions: () => options.mcp.permissions(prompts),
    }),
    sayInit: () => lines.say(initFields(facts, settings)),
    costs,
  });
  return { session, runs, watch, prompts, lines, hooks: options.hooks, transcript };
}
