import type { AgentRequest } from '../../runtime/ports.ts';
import type { AgentType } from '../agent-types.ts';
import { subagentInstructions } from '../subagent-instructions.ts';
import type { CliAbilities } from './cli-abilities.ts';

/** What agents may do without being asked; handed to the CLI as it stands. */
export interface CliPermissions {
  readonly allowTools?: readonly string[] | undefined;
  readonly denyTools?: readonly string[] | undefined;
  readonly mode?: string | undefined;
}

/** How the schema of a call reaches the CLI. */
export type SchemaWay =
  | { readonly type: 'flag'; readonly schemaJson: string }
  /** Through a tool of an MCP server at this address. */
  | { readonly type: 'mcp'; readonly url: string };

export interface CliArgumentParts {
  readonly abilities: CliAbilities;
  readonly permissions: CliPermissions;
  readonly type: AgentType | undefined;
  /** Alias or id as the CLI knows it; undefined for its own default. */
  readonly model: string | undefined;
  /** Undefined for a call without a schema. */
  readonly schema: SchemaWay | undefined;
}

/** Name under which our MCP server is known, and so the first part of the names of its tools. */
export const MCP_SERVER = 'wf';
export const MCP_STRUCTURED_OUTPUT = `mcp__${MCP_SERVER}__StructuredOutput`;

/** Tools of agent CLIs by name: what is not in an allow-list has to be denied by name where a CLI has no such list. */
const KNOWN_TOOLS = [
  ...['Bash', 'BashOutput', 'KillShell', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep', 'LS'],
  ...['WebFetch', 'WebSearch', 'Task', 'Agent', 'TodoWrite', 'Skill', 'SlashCommand', 'ExitPlanMode'],
];
/** An agent of a workflow starts no workflow, and has nobody to ask. */
const NEVER = ['Workflow', 'AskUserQuestion'];

/**
 * Puts the command line of one agent together. The prompt is no part of it: it goes over standard input, which has no
 * limit of length and is not seen in the list of processes.
 */
export function cliArguments(request: AgentRequest, parts: CliArgumentParts): readonly string[] {
  const { abilities, permissions, model, schema, type } = parts;
  const { effort, maxTurns } = request.options;
  const args = ['-p', '--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose'];
  args.push('--append-system-prompt', instructionsOf(request, schema, type));
  if (model !== undefined) args.push('--model', model);
  if (maxTurns !== undefined) args.push('--max-turns', String(maxTurns));
  if (effort !== undefined && abilities.has('--effort')) args.push('--effort', effort);
  if (permissions.mode !== undefined) args.push('--permission-mode', permissions.mode);
  if (abilities.has('--no-session-persistence')) args.push('--no-session-persistence');
  if (schema !== undefined) args.push(...schemaArguments(schema));
  args.push(...toolArguments(request, parts));
  return args;
}

function instructionsOf(request: AgentRequest, schema: SchemaWay | undefined, type: AgentType | undefined): string {
  const text = subagentInstructions(request.output !== undefined, type?.instructions);
  if (schema?.type !== 'mcp') return text;
  return `${text}\n\nThe tool StructuredOutput stands in your list of tools as ${MCP_STRUCTURED_OUTPUT}.`;
}

function schemaArguments(schema: SchemaWay): readonly string[] {
  if (schema.type === 'flag') return ['--json-schema', schema.schemaJson];
  return ['--mcp-config', JSON.stringify({ mcpServers: { [MCP_SERVER]: { type: 'http', url: schema.url } } })];
}

function toolArguments(request: AgentRequest, { abilities, permissions, schema, type }: CliArgumentParts): string[] {
  const { tools, disallowedTools = [] } = request.options;
  const available = tools === undefined ? type?.tools : tools.filter((name) => type?.tools?.includes(name) ?? true);
  const allowed = [...(permissions.allowTools ?? []), ...(schema?.type === 'mcp' ? [MCP_STRUCTURED_OUTPUT] : [])];
  const denied = [...(permissions.denyTools ?? []), ...disallowedTools, ...(type?.disallowedTools ?? []), ...NEVER];
  const args: string[] = [];
  if (available !== undefined && abilities.has('--tools')) args.push('--tools', available.join(','));
  else if (available !== undefined) denied.push(...KNOWN_TOOLS.filter((name) => !available.includes(name)));
  if (allowed.length > 0) args.push('--allowedTools', allowed.join(','));
  args.push('--disallowedTools', [...new Set(denied)].join(','));
  return args;
}
