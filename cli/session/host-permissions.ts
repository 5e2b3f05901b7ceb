import type { PermissionMode } from '../../agents/tools/permissions/permission-modes.ts';
import { isPermissionRule, splitPermissionRules } from '../../agents/tools/permissions/permission-rule.ts';
import type { ToolFlags } from '../flags/tool-flags.ts';
import type { HostFlags } from '../program/host-program.ts';

/** Tools of the main conversation; a rule that names one is not about agents. */
const OWN_TOOLS = ['Workflow', 'TaskStop'];

/** As SDKs name all tools of an MCP server. */
const WHOLE_SERVER = /^mcp__(?:(?!__)[\w-])+$/;

/** Options of the host about tools, in the words of `wf run`; rules that mean nothing here are left out. */
export function hostToolFlags(flags: HostFlags): Pick<ToolFlags, 'permissionMode' | 'allowTools' | 'denyTools'> {
  return {
    permissionMode: agentMode(flags.permissionMode),
    allowTools: [...(flags.allowTools ?? []), ...rulesIn(flags.allowedTools)],
    denyTools: [...(flags.denyTools ?? []), ...rulesIn(flags.disallowedTools)],
  };
}

/** The mode of agents in a session of that mode. Those that only clients know are the default one, with or without questions. */
export function agentMode(mode = 'default'): PermissionMode {
  return mode === 'acceptEdits' || mode === 'bypassPermissions' || mode === 'plan' ? mode : 'default';
}

/** Names and rules of lists that were given several times, or once with commas. */
export function listedTools(lists: readonly string[] = []): readonly string[] {
  return lists.flatMap(splitPermissionRules);
}

/** SDKs list tools of other programs too; what cannot be a rule here bounds nothing here. */
function rulesIn(lists: readonly string[] | undefined): readonly string[] {
  return listedTools(lists)
    .map((rule) => (WHOLE_SERVER.test(rule) ? `${rule}__*` : rule))
    .filter((rule) => !OWN_TOOLS.includes(rule) && isPermissionRule(rule));
}

/** Whether the client answers questions about tools. */
export function canAskClient({ permissionPromptTool, inputFormat }: HostFlags): boolean {
  return permissionPromptTool === 'stdio' && inputFormat === 'stream-json';
}
