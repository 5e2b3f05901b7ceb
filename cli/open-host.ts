import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { loadAgentTypes } from '../agents/agent-types.ts';
import { type ConversationModel, createConversationModel } from '../agents/anthropic/conversation-model.ts';
import type { Hooks } from '../agents/hooks/hooks.ts';
import { loadHooks } from '../agents/hooks/load-hooks.ts';
import { PERMISSION_MODES } from '../agents/tools/permission-modes.ts';
import { createRunStore } from '../cache/run-store.ts';
import { hasSession, openSessionFile, type SessionFile } from '../cache/session-file.ts';
import { findKillSwitch } from '../hosts/saved-workflows/kill-switch.ts';
import { listSavedWorkflows } from '../hosts/saved-workflows/list-saved-workflows.ts';
import { type OpenSession, openSession } from '../hosts/stdio/open-session.ts';
import type { PermissionPrompts } from '../hosts/stdio/permission-prompts.ts';
import type { SessionFacts } from '../hosts/stdio/session-facts.ts';
import { createSessionHooks } from '../hosts/stdio/session-hooks.ts';
import type { SessionSettings } from '../hosts/stdio/session-settings.ts';
import { createBackgroundRuns } from '../hosts/workflow-tool/background-runs.ts';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import { createRedactor } from '../runtime/redact.ts';
import { DEFAULT_LIMITS, type FanOutRequest } from '../runtime/run-options.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { CliContext } from './cli-context.ts';
import { createBackend } from './create-backend.ts';
import { decideLaunch } from './decide-launch.ts';
import type { HostFlags } from './host-program.ts';
import { stateRoot } from './state-root.ts';
import { rulesForAgents } from './tool-flags.ts';

/** A session that can be talked to, and what belongs to it. */
export interface OpenHost extends OpenSession {
  readonly facts: SessionFacts;
  readonly settings: SessionSettings;
  /** Tells a person something that ends nothing. */
  note(text: string): void;
  /** Ends what still runs and fires the session's last hook. */
  close(): Promise<void>;
}

/** Where a session's lines go. */
export interface HostOutput {
  write(line: string, critical: boolean, supersedes: boolean): void;
  onResult(line: Readonly<Record<string, unknown>>): void;
}

/**
 * Opens the session that the options ask for. Nothing is written yet.
 *
 * @throws USAGE_INVALID, FILE_MISSING for a session that is not stored, AGENT_AUTH, FILE_…
 */
export async function openHost(context: CliContext, flags: HostFlags, output: HostOutput): Promise<OpenHost> {
  const root = stateRoot(context, flags);
  const { cwd, homeDirectory, env } = context;
  const note = (text: string): void => {
    if (flags.quiet !== true) context.stderr.write(`note: ${text}\n`);
  };
  const {
    choice,
    model: modelName,
    tools,
    secrets,
    options,
  } = decideLaunch(context, { ...flags, ...agentTools(flags), outputFormat: 'text' }, root, {});
  const { sessionId, stored, source } = await openStored(flags, root, context);
  const over = new AbortController();
  const hooks = await hooksOf(context, flags, { root, sessionId, note });
  const backend = await createBackend(
    choice.name,
    { responses: flags.responses, model: modelName, tools },
    { ...context, agentsCwd: cwd, hooks },
  );
  const model = choice.name === 'anthropic' ? conversationModel(env, modelName) : undefined;
  const switchedOffBy = findKillSwitch(context);
  const facts = await factsOf(context, flags, { sessionId, model, disabled: switchedOffBy !== undefined });
  const settings: SessionSettings = {
    permissionMode: flags.permissionMode ?? 'default',
    modelName: undefined,
    systemPrompt: flags.systemPrompt,
    appendedPrompt: flags.appendSystemPrompt,
  };
  const redactor = createRedactor(secrets);
  const canAsk = flags.permissionPromptTool === 'stdio' && flags.inputFormat === 'stream-json';
  const opened = openSession({
    facts,
    settings,
    source,
    stored,
    model,
    redactor,
    dialect: flags.dialect,
    includeSource: flags.includeSource ?? true,
    partialMessages: flags.includePartialMessages === true,
    replayUserMessages: flags.replayUserMessages === true,
    maxTurns: flags.maxTurns,
    maxRetries: options.limits?.maxRetries ?? DEFAULT_LIMITS.maxRetries,
    canAsk,
    allowedTools: listOf(flags.allowedTools),
    refusal: refusalOf(switchedOffBy, flags),
    hooks: hooks && createSessionHooks(hooks, { sessionId, cwd, warn: note }, over.signal),
    clock: systemClock,
    random: Math.random,
    openRuns: ({ sinksFor, prompts }) =>
      createBackgroundRuns({
        ...options,
        ...(canAsk ? { confirmFanOut: (request) => confirmByClient(prompts, request) } : {}),
        store: createRunStore({ root, redactor }),
        backend,
        cwd,
        homeDirectory,
        dialect: flags.dialect,
        sinksFor,
      }),
    write: output.write,
    onResult: output.onResult,
    onProblem: (error) => note(`the session is not stored: ${isWorkflowError(error) ? error.message : String(error)}`),
  });
  return {
    ...opened,
    facts,
    settings,
    note,
    async close() {
      over.abort();
      await opened.runs.close();
      await opened.hooks?.sessionEnd('other');
      await backend.close();
    },
  };
}

/** The client decides about a fan-out as about a tool. */
async function confirmByClient(prompts: PermissionPrompts, request: FanOutRequest): Promise<boolean> {
  const reason = `One ${request.helper}() would start ${request.agents} agents.`;
  const question = { toolName: 'Workflow', input: { fanOut: { ...request } }, reason };
  return (await prompts.ask(question, new AbortController().signal)).allow;
}

/** The session to go on with, or a new one. @throws FILE_MISSING, USAGE_INVALID */
async function openStored(
  { resume, sessionId: given, forkSession }: HostFlags,
  root: string,
  { cwd, now }: CliContext,
): Promise<{ readonly sessionId: string; readonly stored: SessionFile; readonly source: 'startup' | 'resume' }> {
  if (resume === undefined) {
    const sessionId = given ?? randomUUID();
    return { sessionId, stored: await openSessionFile({ root, sessionId, cwd, now: now() }), source: 'startup' };
  }
  if (!(await hasSession(root, resume))) {
    throw new WorkflowError(
      'FILE_MISSING',
      `there is no session ${resume} in ${join(root, 'sessions')}; leave out --resume to begin a new one`,
    );
  }
  const before = await openSessionFile({ root, sessionId: resume, cwd, now: now() });
  if (forkSession !== true) return { sessionId: resume, stored: before, source: 'resume' };
  const sessionId = given ?? randomUUID();
  const copy = await openSessionFile({ root, sessionId, cwd, now: now() });
  await copy.append(before.messages);
  return { sessionId, stored: { messages: before.messages, append: copy.append }, source: 'resume' };
}

/** Simulated agents do nothing that a hook could see, but a session has hooks of its own. */
function hooksOf(
  { cwd, homeDirectory, env }: CliContext,
  flags: HostFlags,
  {
    root,
    sessionId,
    note,
  }: { readonly root: string; readonly sessionId: string; readonly note: (text: string) => void },
): Promise<Hooks | undefined> {
  if (flags.hooks === false) return Promise.resolve(undefined);
  return loadHooks({
    cwd,
    homeDirectory,
    env,
    settings: flags.settings,
    session: { sessionId, transcriptPath: join(root, 'sessions', `${sessionId}.jsonl`) },
    permissionMode: flags.permissionMode,
    onProblem: note,
  });
}

function conversationModel(env: CliContext['env'], model: string | undefined): ConversationModel {
  return createConversationModel({
    apiKey: env['ANTHROPIC_API_KEY'],
    authToken: env['ANTHROPIC_AUTH_TOKEN'],
    baseUrl: env['ANTHROPIC_BASE_URL'] || undefined,
    model,
  });
}

async function factsOf(
  { cwd, homeDirectory, env }: CliContext,
  flags: HostFlags,
  {
    sessionId,
    model,
    disabled,
  }: { readonly sessionId: string; readonly model: ConversationModel | undefined; readonly disabled: boolean },
): Promise<SessionFacts> {
  const refused = listOf(flags.disallowedTools);
  const tools =
    disabled || model === undefined ? [] : ['Workflow', 'TaskStop'].filter((name) => !refused.includes(name));
  const [saved, agentTypes] = await Promise.all([
    disabled ? [] : listSavedWorkflows(cwd, homeDirectory),
    loadAgentTypes({ cwd, home: homeDirectory }),
  ]);
  return {
    sessionId,
    cwd,
    workflows: saved.map(({ name }) => ({ name, description: '' })),
    tools,
    agentTypes: [...agentTypes.keys()],
    modelId: model?.modelId,
    apiKeySource: model !== undefined && env['ANTHROPIC_API_KEY'] ? 'ANTHROPIC_API_KEY' : 'none',
  };
}

function refusalOf(switchedOffBy: string | undefined, { disallowedTools }: HostFlags): string | undefined {
  if (switchedOffBy !== undefined) return `Workflows are switched off here by ${switchedOffBy}. [WORKFLOWS_DISABLED]`;
  return listOf(disallowedTools).includes('Workflow')
    ? 'Workflows may not run here: --disallowedTools names Workflow.'
    : undefined;
}

/** What agents may do by the client's options. Modes that only concern questions leave agents the default one. */
function agentTools({ permissionMode, allowTools = [], denyTools = [], allowedTools, disallowedTools }: HostFlags) {
  return {
    permissionMode: PERMISSION_MODES.find((mode) => mode === permissionMode) ?? 'default',
    allowTools: [...allowTools, ...rulesForAgents(allowedTools)],
    denyTools: [...denyTools, ...rulesForAgents(disallowedTools)],
  };
}

/** Options that are given several times, or once with commas. */
function listOf(values: readonly string[] = []): readonly string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
