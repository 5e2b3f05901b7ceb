import type { Census, Usage } from './core-event.ts';

/** The census of a run without agents. */
export const NO_AGENTS: Census = {
  agent_count: 0,
  agents_done: 0,
  agents_error: 0,
  agents_skipped: 0,
  agents_cached: 0,
  agents_cancelled: 0,
  agents_empty_result: 0,
};

/** The usage of a run without agents. */
export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, tool_uses: 0, duration_ms: 0 };
