/** How far agents may go without asking. Source: spec A-29. */
export type PermissionMode = 'default' | 'acceptEdits' | 'bypassPermissions' | 'plan';

export const PERMISSION_MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan'];

/**
 * What a tool can do to the world: look, change files of the working directory, run commands, or act through a program that
 * wf knows nothing about (an MCP server).
 */
export type ToolAccess = 'read' | 'edit' | 'execute' | 'external';

/** What a call does, as the table of modes sees it; `steer` is an edit of a file that tells tools what to do. */
export type Deed = ToolAccess | 'steer';

export type ModeVerdict = 'allow' | 'ask' | 'deny';

/** What each mode says to each deed before rules are looked at. The same table is in `docs/agents.md`. */
export const MODE_TABLE: Readonly<Record<PermissionMode, Readonly<Record<Deed, ModeVerdict>>>> = {
  default: { read: 'allow', edit: 'ask', steer: 'ask', execute: 'ask', external: 'ask' },
  acceptEdits: { read: 'allow', edit: 'allow', steer: 'ask', execute: 'ask', external: 'ask' },
  bypassPermissions: { read: 'allow', edit: 'allow', steer: 'allow', execute: 'allow', external: 'allow' },
  plan: { read: 'allow', edit: 'deny', steer: 'deny', execute: 'deny', external: 'deny' },
};

/** Places whose files make git, wf or other agents run something or trust somebody. */
const STEERING = /^(?:.*\/)?(?:\.git|\.wf|\.claude|\.codebuddy|\.mcp\.json|\.gitmodules)(?:\/|$)/i;

/** Tells whether an edit of this path, as seen from the working directory, could widen what agents may do. */
export function isSteering(relativePath: string): boolean {
  return STEERING.test(relativePath);
}
