import { AGENT_DEPTH, agentDepth } from '../../agents/process/cli-environment.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { BackendName, RunFlags } from '../flags/run-flags.ts';
import { splitWords } from '../flags/split-words.ts';

/** Which backend does the work, and what a person should hear about the choice. */
export interface BackendChoice {
  readonly name: BackendName;
  /** One line for stderr; undefined when there is nothing to say. */
  readonly notice: string | undefined;
  /** Words of the command that a process backend starts; undefined for the one it is named for. */
  readonly agentCommand?: readonly string[];
}

type ChoiceFlags = Pick<RunFlags, 'backend' | 'responses' | 'agentCommand'>;
type Env = Readonly<Record<string, string | undefined>>;

interface StoredChoice {
  readonly backend?: BackendName;
  readonly agentCommand?: readonly string[];
  readonly byConnectedAgent?: true;
}

/** Backends that start a process of an agent CLI an agent. */
const PROCESS_BACKENDS: readonly BackendName[] = ['claude', 'codebuddy', 'process'];
/** Variable that names the command of `--backend process`. */
const COMMAND_VARIABLE = 'WF_AGENT_COMMAND';

/**
 * Chooses the backend of a launch. Source: spec C-11, A-24.
 *
 * Contract:
 * - `--backend` decides; else `--responses` means scripted and `--agent-command` process; else a resume goes on with the stored backend; else a key in
 *   the environment means anthropic, and none means simulated.
 * - A run that cost nothing so far never starts to cost unless told so: a stored `scripted` without `--responses` goes on
 *   simulated, key or not.
 *
 * - An agent of a run that starts `wf` itself gets no agents that cost anything: they could go on like that for ever.
 *
 * @throws USAGE_INVALID for options that do not go together, AGENT_AUTH for anthropic without a key, LIMIT_DEPTH inside an
 * agent
 */
export function chooseBackend(flags: ChoiceFlags, env: Env, stored: StoredChoice = {}): BackendChoice {
  refuseConnectedAgent(flags, stored);
  const choice = choose(flags, env, stored.backend);
  if (choice.name !== 'scripted' && choice.name !== 'simulated') refuseInsideAgent(env, choice.name);
  if (choice.name === 'scripted' && flags.responses === undefined) {
    throw new WorkflowError(
      'USAGE_INVALID',
      '--backend scripted needs planned answers: give --responses FILE; docs/responses.md explains the file, and wf schema responses-file its form',
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
  return withCommand(choice, flags, env, stored);
}

/** Another backend would take over, and perhaps cost, what nobody said it should. */
function refuseConnectedAgent({ backend, responses, agentCommand }: ChoiceFlags, stored: StoredChoice): void {
  if (stored.byConnectedAgent !== true) return;
  if (backend !== undefined || responses !== undefined || agentCommand !== undefined) return;
  throw new WorkflowError(
    'USAGE_INVALID',
    'the agents of this run are done by an agent that is connected to wf mcp: go on there with wf_status, ' +
      'or say with --backend who is to do the rest here',
  );
}

function withCommand(
  choice: BackendChoice,
  flags: ChoiceFlags,
  env: Env,
  stored: { readonly backend?: BackendName; readonly agentCommand?: readonly string[] },
): BackendChoice {
  const { name } = choice;
  if (!PROCESS_BACKENDS.includes(name)) {
    if (flags.agentCommand === undefined) return choice;
    throw new WorkflowError(
      'USAGE_INVALID',
      `--agent-command is for the backends ${PROCESS_BACKENDS.join(', ')}, not for ${name}; leave one of the two out`,
    );
  }
  const fromEnv = name === 'process' ? commandIn(env) : undefined;
  const agentCommand = flags.agentCommand ?? (stored.backend === name ? stored.agentCommand : undefined) ?? fromEnv;
  if (agentCommand !== undefined) return { ...choice, agentCommand };
  if (name !== 'process') return choice;
  throw new WorkflowError(
    'USAGE_INVALID',
    `--backend process needs the command of an agent CLI: give --agent-command 'COMMAND [ARGUMENT…]', or set ${COMMAND_VARIABLE}`,
  );
}

function commandIn(env: Env): readonly string[] | undefined {
  const text = env[COMMAND_VARIABLE];
  if (text === undefined || text.trim() === '') return undefined;
  try {
    return splitWords(text);
  } catch {
    throw new WorkflowError(
      'USAGE_INVALID',
      `the environment variable ${COMMAND_VARIABLE} holds an open quote: ${text}`,
    );
  }
}

function refuseInsideAgent(env: Env, name: BackendName): void {
  const depth = agentDepth(env);
  if (depth === 0) return;
  throw new WorkflowError(
    'LIMIT_DEPTH',
    `wf was started by an agent of another run (${AGENT_DEPTH}=${depth}), and agents of ${name} could start others without an ` +
      `end. Try the script with --backend simulated, call it with workflow(), or unset ${AGENT_DEPTH} if this is meant`,
  );
}

function choose(
  { backend, responses, agentCommand }: ChoiceFlags,
  env: Env,
  stored: BackendName | undefined,
): BackendChoice {
  if (backend !== undefined) return { name: backend, notice: backend === 'simulated' ? SIMULATED_NOTICE : undefined };
  if (responses !== undefined) return { name: 'scripted', notice: undefined };
  if (agentCommand !== undefined) {
    const name = stored !== undefined && PROCESS_BACKENDS.includes(stored) ? stored : 'process';
    return { name, notice: undefined };
  }
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
export function hasKey(env: Env): boolean {
  return Boolean(env['ANTHROPIC_API_KEY'] || env['ANTHROPIC_AUTH_TOKEN']);
}
