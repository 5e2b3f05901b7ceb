/**
 * Who must act on an error.
 *
 * - `script`: the author of the workflow script.
 * - `usage`: whoever typed the command or called the function.
 * - `environment`: the operator of the machine (files, permissions, switches).
 * - `replay`: author or operator, about a stored run.
 * - `limit`: whoever set the limit.
 * - `agent`: the backend or its account.
 * - `cancelled`: nobody; somebody asked for it.
 * - `internal`: the maintainers of wf.
 */
export type ErrorKind = 'script' | 'usage' | 'environment' | 'replay' | 'limit' | 'agent' | 'cancelled' | 'internal';

interface CodeFacts {
  readonly kind: ErrorKind;
  /** Exit code of the command line when this error ends it. Source: spec C-7 (after sysexits.h where a number is 64–75). */
  readonly exit: number;
}

/** Every code a {@link WorkflowError} may carry; each has a page in `docs/errors/`. */
export const ERROR_CODES = {
  SCRIPT_SYNTAX: { kind: 'script', exit: 65 },
  SCRIPT_EMPTY: { kind: 'script', exit: 65 },
  SCRIPT_TOO_LARGE: { kind: 'script', exit: 65 },
  SCRIPT_META_INVALID: { kind: 'script', exit: 65 },
  SCRIPT_MODULE_SYNTAX: { kind: 'script', exit: 65 },
  SCRIPT_NONDETERMINISTIC: { kind: 'script', exit: 65 },
  SCRIPT_VALUE_NOT_JSON: { kind: 'script', exit: 1 },
  SCRIPT_DEADLOCK: { kind: 'script', exit: 1 },
  SCRIPT_THREW: { kind: 'script', exit: 1 },
  USAGE_INVALID: { kind: 'usage', exit: 64 },
  USAGE_UNSUPPORTED: { kind: 'usage', exit: 64 },
  STEP_UNKNOWN: { kind: 'usage', exit: 64 },
  STEP_ENDED: { kind: 'usage', exit: 64 },
  FILE_MISSING: { kind: 'environment', exit: 66 },
  FILE_UNREADABLE: { kind: 'environment', exit: 66 },
  WORKFLOW_UNKNOWN: { kind: 'environment', exit: 66 },
  WORKFLOWS_DISABLED: { kind: 'environment', exit: 69 },
  STATE_UNWRITABLE: { kind: 'environment', exit: 74 },
  OUTPUT_UNWRITABLE: { kind: 'environment', exit: 74 },
  REPLAY_JOURNAL_CORRUPT: { kind: 'replay', exit: 1 },
  REPLAY_FORMAT_NEWER: { kind: 'replay', exit: 1 },
  REPLAY_RUN_UNKNOWN: { kind: 'replay', exit: 66 },
  REPLAY_RUN_AMBIGUOUS: { kind: 'replay', exit: 64 },
  REPLAY_FOREIGN_RUN: { kind: 'replay', exit: 66 },
  REPLAY_RUN_LIVE: { kind: 'replay', exit: 75 },
  REPLAY_LEASE_LOST: { kind: 'replay', exit: 75 },
  LIMIT_AGENT_COUNT: { kind: 'limit', exit: 4 },
  LIMIT_ITEMS: { kind: 'limit', exit: 4 },
  LIMIT_BUDGET: { kind: 'limit', exit: 4 },
  LIMIT_CPU: { kind: 'limit', exit: 4 },
  LIMIT_MEMORY: { kind: 'limit', exit: 4 },
  LIMIT_TIME: { kind: 'limit', exit: 124 },
  LIMIT_DEPTH: { kind: 'limit', exit: 4 },
  AGENT_API: { kind: 'agent', exit: 5 },
  AGENT_AUTH: { kind: 'agent', exit: 5 },
  AGENT_QUOTA: { kind: 'agent', exit: 5 },
  AGENT_NO_RESPONSE: { kind: 'agent', exit: 5 },
  AGENT_OUTPUT_INVALID: { kind: 'agent', exit: 5 },
  AGENT_NO_OUTPUT: { kind: 'agent', exit: 5 },
  AGENT_MAX_TURNS: { kind: 'agent', exit: 5 },
  AGENT_STALLED: { kind: 'agent', exit: 5 },
  AGENT_TIMED_OUT: { kind: 'agent', exit: 5 },
  AGENT_TYPE_UNKNOWN: { kind: 'agent', exit: 5 },
  AGENT_SKIPPED: { kind: 'agent', exit: 5 },
  AGENT_GAVE_UP: { kind: 'agent', exit: 5 },
  AGENT_DENIED: { kind: 'agent', exit: 5 },
  AGENT_ISOLATION: { kind: 'agent', exit: 5 },
  AGENTS_FAILED: { kind: 'agent', exit: 5 },
  RUN_CANCELLED: { kind: 'cancelled', exit: 130 },
  INTERNAL_INVARIANT: { kind: 'internal', exit: 70 },
} as const satisfies Record<string, CodeFacts>;

export type ErrorCode = keyof typeof ERROR_CODES;
