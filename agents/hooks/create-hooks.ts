import { throwIfAborted } from '../abort.ts';
import { type Cuts, cutsOf, PLAIN_CUTS } from '../cuts.ts';
import { type GroupGuardian, startGuardian } from '../process/group-guardian.ts';
import { agentPayload, type HookPlace, hookAgentType, sessionPayload } from './hook-payload.ts';
import type { HookCommand, HookSettings } from './hook-settings.ts';
import type { HookEvent, HookedAgent, HookedSession, HookedToolCall, Hooks, PreToolUseVerdict } from './hooks.ts';
import { matchesHook } from './match-hook.ts';
import { type HookOutput, readHookOutput } from './read-hook-output.ts';
import { type HookRunResult, runHookCommand } from './run-hook-command.ts';

export interface CreateHooksOptions {
  /** In the order in which their hooks count. */
  readonly settings: readonly HookSettings[];
  /** Environment of the hook processes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `CLAUDE_PROJECT_DIR` and its like say; absolute. */
  readonly projectDirectory: string;
  /** The conversation of a host that starts the runs. @defaultValue each run is a session of its own */
  readonly session?: HookPlace['session'];
  /** As `--permission-mode` has it. @defaultValue default */
  readonly permissionMode?: string | undefined;
}

/** Where and for what the hooks of one event run. */
interface Firing {
  readonly event: HookEvent;
  /** What matchers are held against; undefined for events that have none. */
  readonly subject: string | undefined;
  readonly payload: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Warnings of one scope are said once. */
  readonly scope: string;
  readonly cuts: Cuts;
  warn(text: string): void;
  /** Called now and then while hooks run, since a slow hook is no stalled agent. */
  alive?(): void;
}

const ALIVE_EVERY_MS = 10_000;

/** Characters that a hook may say to a model. */
const MAX_SAID = 10_000;
/** Warnings that were said, at most; a long-lived host forgets the oldest. */
const MOST_WARNINGS = 1_000;

/** Makes {@link Hooks} of what was read from settings. */
export function createHooks(options: CreateHooksOptions): Hooks {
  const place: HookPlace = { session: options.session, permissionMode: options.permissionMode ?? 'default' };
  const runner = new HookRunner(options);
  const fire = (event: HookEvent, agent: HookedAgent, subject: string, more: Readonly<Record<string, unknown>>) =>
    runner.fire(agentFiring(event, agent, subject, agentPayload(event, agent.request, place, more)));
  const fireForSession = (
    event: HookEvent,
    session: HookedSession,
    more: Readonly<Record<string, unknown>>,
    subject?: string,
  ) => runner.fire({ event, subject, ...inSession(session, event, place.permissionMode, more) });
  return {
    has: (event) => runner.has(event),
    async subagentStart(agent) {
      const said = await fire('SubagentStart', agent, hookAgentType(agent.request), {});
      return {
        additionalContext: joined(
          said.map(({ additionalContext }) => additionalContext),
          cutsOf(agent.report),
        ),
      };
    },
    async subagentStop(agent, { lastAssistantMessage, stopHookActive }) {
      const more = { last_assistant_message: lastAssistantMessage, stop_hook_active: stopHookActive };
      const said = await fire('SubagentStop', agent, hookAgentType(agent.request), more);
      return {
        block: joined(
          said.map(({ block }) => block),
          cutsOf(agent.report),
        ),
      };
    },
    async preToolUse(agent, call) {
      return preToolUseVerdict(
        call,
        await fire('PreToolUse', agent, call.name, toolFields(call)),
        cutsOf(agent.report),
      );
    },
    async postToolUse(agent, call, { text, isError }) {
      const more = { ...toolFields(call), tool_response: { content: text, is_error: isError } };
      const said = await fire('PostToolUse', agent, call.name, more);
      return {
        feedback: joined(
          said.flatMap(({ block, additionalContext }) => [block, additionalContext]),
          cutsOf(agent.report),
        ),
      };
    },
    async sessionStart(session, { source }) {
      const said = await fireForSession('SessionStart', session, { source }, source);
      return { additionalContext: joined(said.map((output) => output.additionalContext ?? output.plainText)) };
    },
    async sessionEnd(session, { reason }) {
      await fireForSession('SessionEnd', session, { reason }, reason);
    },
    async stop(session, { lastAssistantMessage, stopHookActive }) {
      const more = { last_assistant_message: lastAssistantMessage, stop_hook_active: stopHookActive };
      const said = await fireForSession('Stop', session, more);
      return { block: joined(said.map(({ block }) => block)) };
    },
  };
}

/** Runs what is set for an event, and tells what went wrong. */
class HookRunner {
  readonly #commands = new Map<HookEvent, HookCommand[]>();
  readonly #env: CreateHooksOptions['env'];
  readonly #warned = new Set<string>();
  readonly #guardian: GroupGuardian;

  constructor({ settings, env, projectDirectory }: CreateHooksOptions) {
    this.#guardian = startGuardian(env['PATH']);
    this.#env = {
      ...env,
      WF_PROJECT_DIR: projectDirectory,
      CLAUDE_PROJECT_DIR: projectDirectory,
      CODEBUDDY_PROJECT_DIR: projectDirectory,
    };
    for (const { commands } of settings) {
      for (const [event, list] of commands) this.#commands.set(event, [...(this.#commands.get(event) ?? []), ...list]);
    }
  }

  has(event: HookEvent): boolean {
    return this.#commands.has(event);
  }

  /** Gives what the hooks said that ended well or refused, in the order of their settings. */
  async fire(firing: Firing): Promise<readonly HookOutput[]> {
    throwIfAborted(firing.signal);
    const matching = (this.#commands.get(firing.event) ?? []).filter((hook) => this.#matches(hook, firing));
    const ticking = firing.alive === undefined ? undefined : setInterval(firing.alive, ALIVE_EVERY_MS);
    const said = await Promise.all(unique(matching).map((hook) => this.#run(hook, firing)));
    clearInterval(ticking);
    throwIfAborted(firing.signal);
    return said.filter((output) => output !== undefined);
  }

  #matches(hook: HookCommand, firing: Firing): boolean {
    if (firing.subject === undefined) return true;
    try {
      return matchesHook(hook.matcher, firing.subject);
    } catch {
      this.#warn(hook, firing, `has the matcher ${JSON.stringify(hook.matcher)}, which is no regular expression`);
      return false;
    }
  }

  async #run(hook: HookCommand, firing: Firing): Promise<HookOutput | undefined> {
    const { payload, cwd, signal } = firing;
    const { command, timeoutMs, source } = hook;
    const result = await runHookCommand({
      command,
      timeoutMs,
      payload,
      cwd,
      signal,
      env: this.#envFor(source),
      guardian: this.#guardian,
    });
    const output = this.#outputOf(result, hook, firing);
    if (output?.problem !== undefined) this.#warn(hook, firing, output.problem);
    return output?.problem === undefined ? output : undefined;
  }

  #outputOf(result: HookRunResult, hook: HookCommand, firing: Firing): HookOutput | undefined {
    switch (result.type) {
      case 'ended':
        return readHookOutput(result, firing.cuts);
      case 'timed-out':
        this.#warn(
          hook,
          firing,
          `did not end within ${hook.timeoutMs / 1000} s and was killed; it may have a "timeout"`,
        );
        return undefined;
      case 'failed':
        this.#warn(hook, firing, `could not be started: ${result.message}`);
        return undefined;
      case 'aborted':
        return undefined;
    }
  }

  #envFor({ pluginDirectory }: HookCommand['source']): CreateHooksOptions['env'] {
    if (pluginDirectory === undefined) return this.#env;
    return { ...this.#env, CLAUDE_PLUGIN_ROOT: pluginDirectory, CODEBUDDY_PLUGIN_ROOT: pluginDirectory };
  }

  #warn({ command, source }: HookCommand, { event, scope, cuts, warn }: Firing, problem: string): void {
    const shown = command.length > 80 ? `${cuts.slice(command, 0, 80)}…` : command;
    const text = `The ${event} hook \`${shown}\` of ${source.name} ${problem}.`;
    const once = `${scope} ${text}`;
    if (this.#warned.has(once)) return;
    this.#warned.add(once);
    const oldest = this.#warned.values().next().value;
    if (this.#warned.size > MOST_WARNINGS && oldest !== undefined) this.#warned.delete(oldest);
    warn(text);
  }
}

function agentFiring(event: HookEvent, agent: HookedAgent, subject: string, payload: string): Firing {
  const { request, signal, report } = agent;
  const scope = request.run?.runId ?? '';
  return {
    event,
    subject,
    payload,
    cwd: request.cwd,
    signal,
    scope,
    cuts: cutsOf(report),
    warn: (text) => report.warn?.(text),
    alive: () => report.alive(),
  };
}

function inSession(
  session: HookedSession,
  event: HookEvent,
  permissionMode: string,
  more: Readonly<Record<string, unknown>>,
): Omit<Firing, 'event' | 'subject'> {
  const payload = sessionPayload(event, session, permissionMode, more);
  const { cwd, signal, sessionId } = session;
  return { payload, cwd, signal, scope: sessionId, cuts: PLAIN_CUTS, warn: (text) => session.warn(text) };
}

function toolFields({ name, input, id }: HookedToolCall): Readonly<Record<string, unknown>> {
  return { tool_name: name, tool_input: input, tool_use_id: id };
}

function preToolUseVerdict(call: HookedToolCall, said: readonly HookOutput[], cuts: Cuts): PreToolUseVerdict {
  const reason = joined(
    said.map(({ block }) => block),
    cuts,
  );
  if (reason !== undefined) return { decision: 'deny', reason };
  const change = said.findLast(({ input }) => input !== undefined)?.input;
  return { decision: undefined, input: change ?? call.input, changed: change !== undefined };
}

/** The same command twice in the settings of an event runs once. */
function unique(hooks: readonly HookCommand[]): readonly HookCommand[] {
  const byCommand = new Map<string, HookCommand>();
  for (const hook of hooks) {
    const id = `${hook.source.pluginDirectory ?? ''} ${hook.command}`;
    if (!byCommand.has(id)) byCommand.set(id, hook);
  }
  return [...byCommand.values()];
}

function joined(texts: readonly (string | undefined)[], cuts: Cuts = PLAIN_CUTS): string | undefined {
  const said = texts.filter((text) => text !== undefined);
  if (said.length === 0) return undefined;
  const whole = said.join('\n\n');
  return whole.length > MAX_SAID ? `${cuts.slice(whole, 0, MAX_SAID).toWellFormed()}… (cut)` : whole;
}
