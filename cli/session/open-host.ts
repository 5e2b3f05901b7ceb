import { join } from 'node:path';
import { type ConversationModel, createConversationModel } from '../../agents/anthropic/conversation-model.ts';
import type { Hooks } from '../../agents/hooks/hooks.ts';
import { loadHooks } from '../../agents/hooks/load-hooks.ts';
import { type McpTools, mcpToolPrefix } from '../../agents/tools/mcp-tools.ts';
import type { Permissions } from '../../agents/tools/permissions/permissions.ts';
import type { TranscriptLayout } from '../../cache/layouts/transcript-layout.ts';
import { createRunStore } from '../../cache/run-store.ts';
import { findKillSwitch } from '../../hosts/saved-workflows/kill-switch.ts';
import { type OpenSession, openSession, type RunsParts } from '../../hosts/stdio/open-session.ts';
import type { PermissionPrompts } from '../../hosts/stdio/permission-prompts.ts';
import type { SessionFacts } from '../../hosts/stdio/session-facts.ts';
import { createSessionHooks } from '../../hosts/stdio/session-hooks.ts';
import type { SessionSettings } from '../../hosts/stdio/session-settings.ts';
import { type BackgroundRuns, createBackgroundRuns } from '../../hosts/workflow-tool/background-runs.ts';
import { isWorkflowError } from '../../protocol/workflow-error.ts';
import { MODEL_PRICES } from '../../runtime/costs/model-prices.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { createRedactor } from '../../runtime/redact.ts';
import { DEFAULT_LIMITS, type FanOutRequest, type WorkflowOptions } from '../../runtime/run-options.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import type { CliContext } from '../cli-context.ts';
import { readPrices } from '../flags/read-prices.ts';
import type { RunFlags } from '../flags/run-flags.ts';
import { decideLaunch, type LaunchDecisions } from '../launch/decide-launch.ts';
import { openMcpTools } from '../launch/open-mcp-tools.ts';
import { sharedResults } from '../launch/shared-results.ts';
import { transcriptLayout } from '../launch/transcript-layouts.ts';
import type { HostFlags } from '../program/host-program.ts';
import { stateRoot } from '../state/state-root.ts';
import { openHostAgents } from './host-agents.ts';
import { hostFacts, hostRefusal } from './host-facts.ts';
import { canAskClient, hostToolFlags, listedTools } from './host-permissions.ts';
import { openStoredSession } from './host-session.ts';

/** A session that can be talked to, and what belongs to it. */
export interface OpenHost extends OpenSession {
  readonly facts: SessionFacts;
  readonly settings: SessionSettings;
  /** The switch by which workflows are off here; undefined when they are not (H-5). */
  readonly switchedOffBy: string | undefined;
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
  const note = (text: string): void => {
    if (flags.quiet !== true) context.stderr.write(`note: ${text}\n`);
  };
  const prices = await readPrices(flags.prices, undefined, context.cwd);
  const decisions = decideLaunch(context, runFlagsOf(flags), root, {}, prices);
  const shared = flags.reuse === true ? await sharedResults(root) : {};
  const session = await openStoredSession(flags, root, context);
  const { sessionId } = session;
  const layout = await transcriptLayout(flags.layout, context, sessionId);
  const over = new AbortController();
  const transcriptPath = join(root, 'sessions', `${sessionId}.jsonl`);
  const hooks = await hooksOf(context, flags, { session: { sessionId, transcriptPath }, note });
  const model = decisions.choice.name === 'anthropic' ? conversationModel(context.env, decisions.model) : undefined;
  const switchedOffBy = findKillSwitch(context);
  const settings = settingsOf(flags);
  const mcpTools = openMcpTools({
    ...context,
    note,
    given: flags.mcpConfig,
    onlyGiven: flags.strictMcpConfig,
  });
  await mcpTools.load();
  const agents = await openHostAgents(context, flags, { decisions, hooks, settings, mcpTools });
  const facts = await hostFacts(context, flags, { sessionId, model, mcpTools, switchedOffBy });
  const opened = openSession({
    ...output,
    ...session,
    ...talkOptions(flags),
    facts,
    settings,
    model,
    redactor: createRedactor(decisions.secrets),
    maxRetries: decisions.options.limits?.maxRetries ?? DEFAULT_LIMITS.maxRetries,
    refusal: hostRefusal(switchedOffBy, flags),
    mcp: { mcpTools, permissions: agents.mainPermissions },
    hooks: hooks && createSessionHooks(hooks, { sessionId, transcriptPath, cwd: context.cwd, warn: note }, over.signal),
    clock: systemClock,
    prices: decisions.options.prices ?? MODEL_PRICES,
    random: Math.random,
    openRuns(parts) {
      agents.joinSession(parts);
      return openRuns(context, flags, { ...parts, root, layout, decisions, shared, backend: agents.backend });
    },
    onProblem: (error) => note(`the session is not stored: ${isWorkflowError(error) ? error.message : String(error)}`),
  });
  // By the time somebody speaks they are there.
  const permissions = agents.mainPermissions(opened.prompts);
  if (model !== undefined) void mcpTools.tools(permissions);
  if (flags.addDir !== undefined)
    note('--add-dir changes nothing: agents read and write in the working directory alone');
  if (flags.mcpConfig !== undefined) noteClosedServers(mcpTools, permissions, note);
  return {
    ...opened,
    facts,
    settings,
    switchedOffBy,
    note,
    async close() {
      over.abort();
      await opened.runs.close();
      await opened.transcript.flush();
      await opened.hooks?.sessionEnd('other');
      await agents.backend.close();
      await mcpTools.close();
    },
  };
}

/** Whoever names a server means it to be used. */
function noteClosedServers(mcpTools: McpTools, permissions: Permissions, note: (text: string) => void): void {
  for (const { name, status } of mcpTools.servers()) {
    if (status === 'failed' || permissions.offersServer(mcpToolPrefix(name))) continue;
    note(
      `the MCP server ${name} is not started: nothing here could allow its tools; give --allowedTools 'mcp__${name}'`,
    );
  }
}

/** The options of the host in the words of `wf run`. */
function runFlagsOf(flags: HostFlags): RunFlags {
  const { permissionMode: _clientsWord, ...kept } = flags;
  return { ...kept, ...hostToolFlags(flags), outputFormat: 'text' };
}

function settingsOf(flags: HostFlags): SessionSettings {
  return {
    permissionMode: flags.permissionMode ?? 'default',
    modelName: undefined,
    systemPrompt: flags.systemPrompt,
    appendedPrompt: flags.appendSystemPrompt,
  };
}

function talkOptions(flags: HostFlags) {
  return {
    dialect: flags.dialect,
    includeSource: flags.includeSource ?? true,
    partialMessages: flags.includePartialMessages === true,
    replayUserMessages: flags.replayUserMessages === true,
    maxTurns: flags.maxTurns,
    canAsk: canAskClient(flags),
    allowedTools: listedTools(flags.allowedTools),
  };
}

interface OpenRunsParts extends RunsParts {
  readonly layout: TranscriptLayout | undefined;
  readonly root: string;
  readonly decisions: LaunchDecisions;
  readonly backend: AgentBackend;
  /** Answers of other runs. */
  readonly shared: Pick<WorkflowOptions, 'sharedResults'>;
}

function openRuns({ cwd, homeDirectory }: CliContext, flags: HostFlags, parts: OpenRunsParts): BackgroundRuns {
  const { root, layout, decisions, backend, shared, sinksFor, prompts } = parts;
  return createBackgroundRuns({
    ...decisions.options,
    ...shared,
    ...(canAskClient(flags) ? { confirmFanOut: (request) => confirmByClient(prompts, request) } : {}),
    store: createRunStore({ root, redactor: createRedactor(decisions.secrets), layout }),
    backend,
    cwd,
    homeDirectory,
    dialect: flags.dialect,
    sinksFor,
  });
}

/** The client decides about a fan-out as about a tool. */
async function confirmByClient(prompts: PermissionPrompts, request: FanOutRequest): Promise<boolean> {
  const reason = `One ${request.helper}() would start ${request.agents} agents.`;
  const question = { toolName: 'Workflow', input: { fanOut: { ...request } }, reason };
  return (await prompts.ask(question, new AbortController().signal)).allow;
}

/** Hooks of the agents and of the session itself. */
function hooksOf(
  { cwd, homeDirectory, env }: CliContext,
  flags: HostFlags,
  parts: {
    readonly session: { readonly sessionId: string; readonly transcriptPath: string };
    readonly note: (text: string) => void;
  },
): Promise<Hooks | undefined> {
  if (flags.hooks === false) return Promise.resolve(undefined);
  const { session, note } = parts;
  return loadHooks({
    cwd,
    homeDirectory,
    env,
    settings: flags.settings,
    session,
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
