import type { AgentOptions } from '../../runtime/ports.ts';
import type { AgentType } from '../agent-types.ts';
import type { AgentTool } from './agent-tool.ts';

/** Gives the tools of one agent: those its type and its call allow, less those its call denies. Deny wins. */
export function chooseTools(
  available: readonly AgentTool[],
  { tools: allowed, disallowedTools: denied }: AgentOptions,
  type: AgentType | undefined,
): readonly AgentTool[] {
  if (allowed === undefined && denied === undefined && type?.tools === undefined) return available;
  return available.filter(
    ({ name }) =>
      (type?.tools === undefined || type.tools.includes(name)) &&
      (allowed === undefined || allowed.includes(name)) &&
      denied?.includes(name) !== true,
  );
}
