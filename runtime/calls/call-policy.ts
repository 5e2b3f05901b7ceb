import type { AgentOptions } from '../ports.ts';

/** A call that is about to cost something. */
export interface PolicyCall {
  readonly key: string;
  readonly prompt: string;
  readonly label: string;
  readonly phase: string | null;
  readonly scope: string;
  /** As the script gave them. */
  readonly options: AgentOptions;
  /** Output tokens of the run so far. */
  readonly spent: number;
  /** Calls of the run so far, this one included. */
  readonly count: number;
}

/** What becomes of it. Changes reach the agent and its records, never its key: a resume finds the result all the same. */
export type PolicyDecision =
  | {
      readonly action: 'allow';
      readonly change?: Pick<AgentOptions, 'model' | 'tools' | 'disallowedTools' | 'isolation'>;
    }
  | { readonly action: 'deny'; readonly reason: string };

/**
 * Sees each call that no stored result answers, before it waits for a slot. A denied call rejects in the script with
 * `AGENT_DENIED`; a policy that throws denies. Source: spec A-34.
 */
export type CallPolicy = (call: PolicyCall) => PolicyDecision | Promise<PolicyDecision>;

/** Asks a policy about a call; one that throws denies. */
export async function askPolicy(policy: CallPolicy, call: PolicyCall): Promise<PolicyDecision> {
  try {
    return await policy(call);
  } catch (error) {
    return {
      action: 'deny',
      reason: `the policy itself failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
