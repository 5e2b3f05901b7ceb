import type { McpServerState } from '../../agents/tools/mcp-tools.ts';
import type { InitLine } from '../../protocol/stdio-output.ts';
import { WF_VERSION } from '../../runtime/version.ts';
import type { SessionSettings } from './session-settings.ts';

/** A workflow that can be run by its name. */
export interface KnownWorkflow {
  readonly name: string;
  readonly description: string;
}

/** What stays the same about a session while it lasts. */
export interface SessionFacts {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly workflows: readonly KnownWorkflow[];
  /** Names of the tools of the main conversation. */
  readonly tools: readonly string[];
  /** How it stands with the MCP servers that were named. */
  readonly mcpServers: () => readonly McpServerState[];
  /** Types that agents of a workflow may have. */
  readonly agentTypes: readonly string[];
  /** Gives the id of the model in use; undefined when none is configured. */
  readonly modelId: ((name: string | undefined) => string) | undefined;
  /** Where the key of the model comes from: the name of a variable, or `none`. */
  readonly apiKeySource: string;
}

/** The line that begins each turn, without what every line gets. */
export function initFields(facts: SessionFacts, settings: SessionSettings): Omit<InitLine, 'uuid' | 'session_id'> {
  return {
    type: 'system',
    subtype: 'init',
    cwd: facts.cwd,
    tools: [...facts.tools],
    mcp_servers: facts.mcpServers().map(({ name, status }) => ({ name, status })),
    model: facts.modelId?.(settings.modelName) ?? 'none',
    permissionMode: settings.permissionMode,
    slash_commands: facts.workflows.map(({ name }) => name),
    apiKeySource: facts.apiKeySource,
    output_style: 'default',
    agents: [...facts.agentTypes],
    skills: [],
    plugins: [],
    wf_version: WF_VERSION,
    capabilities: ['interrupt_receipt_v1', 'interrupt_cancel_queued_v1'],
  };
}

/** The answer to `initialize`. It says nothing about an account (E-13). */
export function initializeAnswer({ workflows, agentTypes, modelId }: SessionFacts): Readonly<Record<string, unknown>> {
  return {
    commands: workflows.map(({ name, description }) => ({ name, description, argumentHint: '[args]' })),
    agents: agentTypes.map((name) => ({ name, description: '' })),
    models:
      modelId === undefined
        ? []
        : MODELS.map((name) => ({ value: name, displayName: name, description: modelId(name) })),
    output_style: 'default',
    available_output_styles: ['default'],
  };
}

const MODELS = ['sonnet', 'opus', 'haiku'] as const;
