import type { AgentOptions } from '../../runtime/ports.ts';
import type { AgentType } from '../agent-types.ts';
import type { AgentTool } from './agent-tool.ts';
import type { Permissions } from './permissions/permissions.ts';

/** Gives the tools of one agent: those its type and its call allow, less those that either denies. Deny wins. */
export function chooseTools(
  available: readonly AgentTool[],
  { tools: allowed, disallowedTools }: AgentOptions,
  type: AgentType | undefined,
): readonly AgentTool[] {
  const denied = [...(disallowedTools ?? []), ...(type?.disallowedTools ?? [])];
  if (allowed === undefined && denied.length === 0 && type?.tools === undefined) return available;
  const isChosen = (name: string): boolean =>
    (type?.tools === undefined || type.tools.includes(name)) &&
    (allowed === undefined || allowed.includes(name)) &&
    !denied.includes(name);
  return available.filter(({ name, companionOf }) => isChosen(companionOf ?? name) && !denied.includes(name));
}

/** Gives those of an agent's tools of which some call could be allowed: others are not offered to a model. */
export function offeredTools(
  tools: readonly AgentTool[],
  permissions: Pick<Permissions, 'offers'>,
): readonly AgentTool[] {
  const offered = tools.filter((tool) => permissions.offers(tool));
  return offered.filter(
    ({ companionOf }) => companionOf === undefined || offered.some(({ name }) => name === companionOf),
  );
}
