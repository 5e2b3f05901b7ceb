import type { Hooks } from '../../agents/hooks/hooks.ts';
import { loadHooks } from '../../agents/hooks/load-hooks.ts';
import type { PermissionMode } from '../../agents/tools/permissions/permission-modes.ts';
import type { CliContext } from '../cli-context.ts';
import type { BackendName, RunFlags } from '../flags/run-flags.ts';

export interface RunHooksParts {
  readonly backend: BackendName;
  /** Working directory of the agents; absolute. */
  readonly cwd: string;
  readonly permissionMode: PermissionMode | undefined;
  /** Told of settings that cannot be used. */
  readonly onProblem: ((text: string) => void) | undefined;
}

/**
 * Loads the hooks of a run's agents. They belong to backends that lead the conversation themselves: simulated agents do
 * nothing that a hook could see, and other programs run hooks of their own.
 */
export async function loadRunHooks(
  { env, homeDirectory }: Pick<CliContext, 'env' | 'homeDirectory'>,
  flags: Pick<RunFlags, 'hooks'>,
  { backend, cwd, permissionMode, onProblem }: RunHooksParts,
): Promise<Hooks | undefined> {
  if (flags.hooks === false || (backend !== 'scripted' && backend !== 'anthropic')) return undefined;
  return loadHooks({ cwd, homeDirectory, env, permissionMode, ...(onProblem === undefined ? {} : { onProblem }) });
}
