import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Hooks } from '../../agents/hooks/hooks.ts';
import type { McpTools } from '../../agents/tools/mcp-tools.ts';
import type { AskPermission } from '../../agents/tools/permissions/permissions.ts';
import { readTextFile } from '../../hosts/saved-workflows/read-text-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, Redactor } from '../../runtime/ports.ts';
import type { CliContext } from '../cli-context.ts';
import type { BackendName } from '../flags/run-flags.ts';
import { type ToolFlags, toolOptions } from '../flags/tool-flags.ts';
import { openMcpTools } from './open-mcp-tools.ts';

export interface BackendPlace extends Pick<CliContext, 'env' | 'cwd' | 'homeDirectory'> {
  /** Working directory of the agents, whose project may bring agent types. */
  readonly agentsCwd: string;
  /** Undefined when there are none. */
  readonly hooks?: Hooks | undefined;
  /** Asked about tool calls that need a yes; undefined where nobody is there. */
  readonly ask?: AskPermission | undefined;
  /** Tools of MCP servers; without them those of the `.mcp.json` where the agents work. */
  readonly mcpTools?: McpTools | undefined;
  /** Told what a person should know: an MCP server that cannot be used. */
  readonly note?: ((text: string) => void) | undefined;
}

/** What was typed about a backend. */
export interface BackendFlags {
  readonly responses?: string | undefined;
  readonly model?: string | undefined;
  readonly agentCommand?: readonly string[] | undefined;
  /** What agents may do. */
  readonly tools?: ToolFlags | undefined;
}

/**
 * Makes a backend; only its own code is loaded.
 *
 * @throws FILE_… and USAGE_INVALID for a bad `--responses`, FILE_MISSING for a command that is not there
 */
export async function createBackend(
  name: BackendName,
  flags: BackendFlags,
  { env, cwd, homeDirectory, agentsCwd, hooks, ask, mcpTools, note }: BackendPlace,
): Promise<AgentBackend> {
  const tools = {
    ...toolOptions(flags.tools ?? {}, env, ask),
    mcpTools: mcpTools ?? openMcpTools({ cwd: agentsCwd, env, note }),
  };
  switch (name) {
    case 'scripted': {
      const path = resolve(cwd, flags.responses ?? '');
      const text = await readTextFile(path, 'the file of --responses');
      const { createScriptedBackend } = await import('../../agents/scripted/scripted-backend.ts');
      const { loadAgentTypes } = await import('../../agents/agent-types.ts');
      const { loadResponsesFile } = await import('../../agents/scripted/load-responses-file.ts');
      const agentTypes = await loadAgentTypes({ cwd: agentsCwd, home: homeDirectory });
      return createScriptedBackend(loadResponsesFile(text, path), { agentTypes, hooks, ...tools });
    }
    case 'simulated': {
      const { createSimulatedBackend } = await import('../../agents/simulated/simulated-backend.ts');
      return createSimulatedBackend();
    }
    case 'anthropic': {
      const { createAnthropicBackend } = await import('../../agents/anthropic/anthropic-backend.ts');
      const { loadAgentTypes } = await import('../../agents/agent-types.ts');
      return createAnthropicBackend({
        apiKey: env['ANTHROPIC_API_KEY'],
        authToken: env['ANTHROPIC_AUTH_TOKEN'],
        baseUrl: env['ANTHROPIC_BASE_URL'] || undefined,
        model: flags.model,
        agentTypes: await loadAgentTypes({ cwd: agentsCwd, home: homeDirectory }),
        hooks,
        ...tools,
      });
    }
    case 'claude':
    case 'codebuddy':
    case 'process': {
      const { openProcessBackend } = await import('../../agents/process/process-backend.ts');
      const { loadAgentTypes } = await import('../../agents/agent-types.ts');
      return openProcessBackend({
        name,
        command: flags.agentCommand ?? [name],
        env,
        cwd,
        model: flags.model,
        permissions: cliPermissions(flags.tools ?? {}),
        agentTypes: await loadAgentTypes({ cwd: agentsCwd, home: homeDirectory }),
      });
    }
  }
}

/** An agent CLI decides about its tools by itself, by the same words. */
function cliPermissions({ allowTools, denyTools, permissionMode }: ToolFlags) {
  return { allowTools, denyTools, mode: permissionMode };
}

/**
 * Wraps a backend so that its answers are written to the file of `--record` when it is closed.
 *
 * @throws STATE_UNWRITABLE when the file cannot be written, before anything is paid
 */
export async function recordAnswers(backend: AgentBackend, path: string, redactor: Redactor): Promise<AgentBackend> {
  await writeRecording(path, '', 'a');
  const { createRecordingBackend } = await import('../../agents/scripted/recording-backend.ts');
  return createRecordingBackend(backend, (text) => writeRecording(path, text, 'w'), redactor);
}

async function writeRecording(path: string, text: string, flag: 'a' | 'w'): Promise<void> {
  try {
    await writeFile(path, text, { flag, mode: 0o600 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('STATE_UNWRITABLE', `the file of --record cannot be written: ${reason}`, { cause });
  }
}
