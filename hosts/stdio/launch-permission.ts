import type { HostToolCall } from './host-tool.ts';
import type { PermissionDecision, PermissionPrompts } from './permission-prompts.ts';
import type { SessionSettings } from './session-settings.ts';

export interface LaunchPermissionOptions {
  readonly prompts: PermissionPrompts;
  /** Whether the client answers `can_use_tool`. */
  readonly canAsk: boolean;
  readonly settings: SessionSettings;
  /** Names of tools that run without a question. */
  readonly allowedTools: readonly string[];
}

/**
 * Decides whether the model may start a workflow. Modes that ask do so where the client answers questions; where it does
 * not, starting one is allowed, since each tool of its agents is judged for itself. `dontAsk` refuses what was not allowed.
 */
export async function permitLaunch(
  input: unknown,
  { toolUseId, turn }: HostToolCall,
  { prompts, canAsk, settings, allowedTools }: LaunchPermissionOptions,
): Promise<PermissionDecision> {
  if (allowedTools.includes('Workflow') || settings.permissionMode === 'bypassPermissions') return { allow: true };
  if (settings.permissionMode === 'dontAsk') {
    return {
      allow: false,
      message: 'Workflow was not allowed beforehand, and the permission mode dontAsk asks nobody.',
    };
  }
  if (!canAsk) return { allow: true };
  const decision = await prompts.ask({ toolName: 'Workflow', input, toolUseId }, turn.signal);
  if (!decision.allow) {
    const told = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
    turn.countDenial({ tool_name: 'Workflow', tool_use_id: toolUseId, tool_input: told });
  }
  return decision;
}
