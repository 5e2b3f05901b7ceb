/** Names the depth of agents within agents to a `wf` that an agent starts. */
export const AGENT_DEPTH = 'WF_AGENT_DEPTH';

/**
 * What an agent CLI does not get of our environment: our own settings, which are about this run, and what another agent
 * CLI says about the session that we were started from.
 */
const KEPT_BACK = /^(?:WF_.*|CLAUDECODE|CLAUDE_CODE_(?:ENTRYPOINT|SSE_PORT|SESSION_ID)|CODEBUDDY_CODE_ENTRYPOINT)$/;

/**
 * The environment of an agent CLI. It needs most of ours: the search path, the home with its login, keys, proxies.
 *
 * Its own retries are switched off, since the runtime does them and slows all agents down together.
 */
export function cliEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  maxStructuredOutputRetries: number,
): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !KEPT_BACK.test(name)) passed[name] = value;
  }
  return {
    ...passed,
    [AGENT_DEPTH]: String(agentDepth(env) + 1),
    CLAUDE_CODE_MAX_RETRIES: '0',
    MAX_STRUCTURED_OUTPUT_RETRIES: String(maxStructuredOutputRetries),
    DISABLE_AUTOUPDATER: '1',
  };
}

/** How many agents of wf this process is inside of; 0 for one that a person started. */
export function agentDepth(env: Readonly<Record<string, string | undefined>>): number {
  const depth = Number(env[AGENT_DEPTH] ?? 0);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}
