import type { AgentBackend, AgentOutcome, AgentReporter, AgentRequest } from '../../runtime/ports.ts';
import { type AgentTypes, BUILT_IN_AGENT_TYPES, findAgentType } from '../agent-types.ts';
import { converse } from '../conversation.ts';
import type { Hooks } from '../hooks/hooks.ts';
import { subagentInstructions } from '../subagent-instructions.ts';
import { offeredTools } from '../tools/choose-tools.ts';
import { lateToolHost } from '../tools/late-tool-host.ts';
import type { PermissionOptions } from '../tools/permissions/permissions.ts';
import type { ShellOptions } from '../tools/tool-host.ts';
import { type ToolSources, toolsOfAgent } from '../tools/tools-of-agent.ts';
import { type AnthropicLine, AnthropicTurns } from './anthropic-turns.ts';
import { DEFAULT_MODEL, effortFor, resolveModel } from './models.ts';
import { type AnthropicAccess, openLine } from './open-line.ts';
import type { RequestFrame } from './request-body.ts';

export interface AnthropicBackendOptions extends AnthropicAccess, ToolSources {
  /** Alias or id of the model for calls that name none. @defaultValue sonnet */
  readonly model?: string | undefined;
  /** Output limit of one message, thinking included. @defaultValue 32000 */
  readonly maxTokens?: number | undefined;
  /** @defaultValue the built-in types */
  readonly agentTypes?: AgentTypes | undefined;
  /** What the tools may do without asking, and at all. @defaultValue they may read; the rest is asked for, and refused with nobody there */
  readonly permissions?: PermissionOptions | undefined;
  /** Where and how Bash runs. */
  readonly shell?: ShellOptions | undefined;
  /** @defaultValue none */
  readonly hooks?: Hooks | undefined;
}

const DEFAULT_MAX_TOKENS = 32_000;

/**
 * Runs agents on the Anthropic Messages API. Source: spec A-25.
 *
 * Contract:
 * - The SDK is loaded by `warmUp`, or else with the first agent. One client, and with it one pool of kept-alive connections, serves all.
 * - Nothing is read from the environment but what the SDK reads for extra headers (`ANTHROPIC_CUSTOM_HEADERS`).
 * - Every request is sent once; retries are the caller's, through {@link AgentReporter.retry}.
 */
export function createAnthropicBackend(options: AnthropicBackendOptions): AgentBackend {
  const model = options.model ?? DEFAULT_MODEL;
  const toolHost = lateToolHost(options);
  let line: Promise<AnthropicLine> | undefined;
  return {
    name: 'anthropic',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: false,
    costs: true,
    model: resolveModel(model),
    async run(request, signal, report): Promise<AgentOutcome> {
      const type = findAgentType(options.agentTypes ?? BUILT_IN_AGENT_TYPES, request.options.agentType);
      const { permissions } = toolHost;
      const tools = await toolsOfAgent(options, { request, type, permissions, signal, report });
      const frame = frameOf(request, {
        model: resolveModel(request.options.model ?? type?.model ?? model),
        maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
        system: subagentInstructions(request.output !== undefined, type?.instructions),
        tools: offeredTools(tools, permissions),
      });
      noteFrame(frame, request, report);
      line ??= openLine(options);
      const turns = new AnthropicTurns(await line, frame, signal, report);
      return converse({ request, signal, report, turns, tools, toolHost, hooks: options.hooks });
    },
    admit(call) {
      findAgentType(options.agentTypes ?? BUILT_IN_AGENT_TYPES, call.agentType);
    },
    async warmUp() {
      line ??= openLine(options);
      await Promise.all([line.catch(() => {}), import('../tools/default-tools.ts')]); // the first agent meets the same error and says so
    },
    async close() {
      line = undefined;
      await Promise.all([toolHost.close(), options.mcpTools?.close()]);
    },
  };
}

function frameOf(request: AgentRequest, parts: Omit<RequestFrame, 'effort' | 'output'>): RequestFrame {
  const { effort } = request.options;
  return {
    ...parts,
    effort: effort === undefined ? undefined : effortFor(parts.model, effort),
    output: request.output,
  };
}

/** Begins the transcript with what the model is told beside the prompt. */
function noteFrame(frame: RequestFrame, request: AgentRequest, report: AgentReporter): void {
  report.transcript?.({
    type: 'note',
    text: 'started',
    model: frame.model,
    system: frame.system,
    tools: frame.tools.map(({ name }) => name),
    effort: frame.effort ?? null,
  });
  const asked = request.options.effort;
  if (asked !== undefined && asked !== frame.effort) {
    const instead = frame.effort === undefined ? 'it is left out' : `${frame.effort} is used instead`;
    report.transcript?.({ type: 'note', text: `${frame.model} takes no effort "${asked}"; ${instead}.` });
  }
}
