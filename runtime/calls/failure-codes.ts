/** Codes that make the call `null`: the agent died or was left out, which is no answer and no fault of the script. */
export const NULL_CODES: ReadonlySet<string> = new Set([
  'AGENT_API',
  'AGENT_NO_RESPONSE',
  'AGENT_STALLED',
  'AGENT_SKIPPED',
  'AGENT_GAVE_UP',
]);

/** Codes that stop the run: every further agent would meet them. */
export const BREAKER_CODES: ReadonlySet<string> = new Set(['AGENT_AUTH', 'AGENT_QUOTA']);
