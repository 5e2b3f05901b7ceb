import { WorkflowError } from '../protocol/workflow-error.ts';
import type { BackendName, RunFlags } from './run-flags.ts';

/** Which backend does the work, and what a person should hear about the choice. */
export interface BackendChoice {
  readonly name: BackendName;
  /** One line for stderr; undefined when there is nothing to say. */
  readonly notice: string | undefined;
}

/**
 * Chooses the backend of a launch. Source: spec C-11, A-24.
 *
 * Contract:
 * - `--backend` decides; else `--responses` means scripted; else a resume goes on with the stored backend; else a key in
 *   the environment means anthropic, and none means simulated.
 * - A run that cost nothing so far never starts to cost unless told so: a stored `scripted` without `--responses` goes on
 *   simulated, key or not.
 *
 * @throws USAGE_INVALID for options that do not go together, AGENT_AUTH for anthropic without a key
 */
export function chooseBackend(
  flags: Pick<RunFlags, 'backend' | 'responses'>,
  env: Readonly<Record<string, string | undefined>>,
  stored?: BackendName,
): BackendChoice {
  const choice = choose(flags, env, stored);
  if (choice.name === 'scripted' && flags.responses === undefined) {
    throw new WorkflowError(
      'USAGE_INVALID',
      '--backend scripted needs planned answers: give --responses FILE (docs: the form is in `wf schema responses-file`)',
    );
  }
  if (choice.name !== 'scripted' && flags.responses !== undefined) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `--responses is for the scripted backend, not for ${choice.name}; leave one of the two out`,
    );
  }
  if (choice.name === 'anthropic' && !hasKey(env)) {
    throw new WorkflowError(
      'AGENT_AUTH',
      'the anthropic backend has no key: set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN for a gateway, ' +
        'or try the script for nothing with --backend simulated',
    );
  }
  return choice;
}

function choose(
  { backend, responses }: Pick<RunFlags, 'backend' | 'responses'>,
  env: Readonly<Record<string, string | undefined>>,
  stored: BackendName | undefined,
): BackendChoice {
  if (backend !== undefined) return { name: backend, notice: backend === 'simulated' ? SIMULATED_NOTICE : undefined };
  if (responses !== undefined) return { name: 'scripted', notice: undefined };
  if (stored === 'scripted') {
    return {
      name: 'simulated',
      notice:
        'agents are simulated from here on: planned answers belong to one launch; to plan them again give --responses FILE',
    };
  }
  if (stored !== undefined) return { name: stored, notice: stored === 'simulated' ? SIMULATED_NOTICE : undefined };
  if (hasKey(env)) return { name: 'anthropic', notice: undefined };
  return { name: 'simulated', notice: SIMULATED_NOTICE };
}

/** What every simulated launch says. */
export const SIMULATED_NOTICE =
  'agents are simulated, no model is asked; for a real one set ANTHROPIC_API_KEY and give --backend anthropic';

/** Tells whether the environment holds a key for the Messages API. */
export function hasKey(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env['ANTHROPIC_API_KEY'] || env['ANTHROPIC_AUTH_TOKEN']);
}
