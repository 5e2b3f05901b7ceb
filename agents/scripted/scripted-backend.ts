import { preview } from '../../protocol/preview.ts';
import type { ResponsesFile } from '../../protocol/responses-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, AgentOutcome, AgentRequest, Clock } from '../../runtime/ports.ts';
import { type AgentTypes, BUILT_IN_AGENT_TYPES, findAgentType } from '../agent-types.ts';
import { converse } from '../conversation.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { AgentTool } from '../tools/agent-tool.ts';
import { lateToolHost } from '../tools/late-tool-host.ts';
import type { PermissionOptions } from '../tools/permissions/permissions.ts';
import type { ShellOptions } from '../tools/tool-host.ts';
import { type ToolSources, toolsOfAgent } from '../tools/tools-of-agent.ts';
import { wallClock } from '../wall-clock.ts';
import { type PlannedReply, ResponseBook } from './response-book.ts';
import { ScriptedTurns } from './scripted-turns.ts';

export interface ScriptedBackendOptions extends ToolSources {
  /** @defaultValue the built-in types */
  readonly agentTypes?: AgentTypes | undefined;
  /** What the tools may do without asking, and at all. @defaultValue they may read; the rest is asked for, and refused with nobody there */
  readonly permissions?: PermissionOptions | undefined;
  /** Where and how Bash runs. */
  readonly shell?: ShellOptions | undefined;
  /** @defaultValue none */
  readonly hooks?: Hooks | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Answers agents from a responses file, through the same conversation a model has. Source: spec A-23, C-12.
 *
 * Contract: an agent that is run again under its key after an abort goes on in its list where it stopped. Answers
 * without a delay take no timer.
 */
export function createScriptedBackend(file: ResponsesFile, options: ScriptedBackendOptions = {}): AgentBackend {
  const { agentTypes = BUILT_IN_AGENT_TYPES, clock = wallClock } = options;
  const book = new ResponseBook(file);
  const toolHost = lateToolHost(options);
  /** Replies of agents that were aborted, by key. */
  const interrupted = new Map<string, PlannedReply>();
  return {
    name: 'scripted',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: false,
    model: undefined,
    admit: (call) => void findAgentType(agentTypes, call.agentType),
    async run(request, signal, report): Promise<AgentOutcome> {
      const type = findAgentType(agentTypes, request.options.agentType);
      const reply = interrupted.get(request.key) ?? book.open(request.prompt, request.label);
      if (reply === undefined) throw noResponse(request);
      const turns = new ScriptedTurns(reply, request.output, signal, clock);
      const { permissions } = toolHost;
      const tools = callsTool(reply)
        ? await toolsOfAgent(options, { request, type, permissions, signal, report })
        : NO_TOOLS;
      try {
        return await converse({ request, signal, report, turns, tools, toolHost, hooks: options.hooks });
      } finally {
        if (signal.aborted) interrupted.set(request.key, reply);
        else interrupted.delete(request.key);
      }
    },
    async close() {
      interrupted.clear();
      await Promise.all([toolHost.close(), options.mcpTools?.close()]);
    },
  };
}

const NO_TOOLS: readonly AgentTool[] = [];

/** Tells whether any planned turn calls a tool; without one, no agent can see which tools there are. */
function callsTool({ turns }: PlannedReply): boolean {
  return turns.some(({ tool, blocks }) => tool !== undefined || blocks?.some((block) => block.tool !== undefined));
}

function noResponse({ prompt, label }: AgentRequest): WorkflowError {
  return new WorkflowError(
    'AGENT_NO_RESPONSE',
    `The responses file has no rule for the agent "${label}" with the prompt "${preview(prompt, 200)}", and no default. Add one of them.`,
  );
}
