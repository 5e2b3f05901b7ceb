import { hash } from 'node:crypto';
import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import { exhaustedError, LONGEST_RETRY_AFTER_MS, quotaError } from '../calls/retry-policy.ts';
import type { AgentBackend, AgentOutcome, AgentReporter, AgentRequest } from '../ports.ts';
import { leastAnswer } from './least-answer.ts';
import type { Pacer } from './pacer.ts';

/** What is known of a call after the undisturbed run. */
export interface KnownCall {
  readonly prompt: string;
  readonly structured: boolean;
  readonly end: { readonly outcome: AgentOutcome } | { readonly error: unknown };
  /** The least answer that it must accept; undefined when there is none, or when that was its answer. */
  readonly leastJson: string | undefined;
  /** The stand-in answered it. */
  readonly standIn: boolean;
}

/** What is done to the call of one identity. */
export interface Fault {
  readonly identity: string;
  readonly kind: 'null' | 'reject' | 'bad';
}

export interface RehearsedBackendOptions {
  readonly inner: AgentBackend;
  readonly standIn: AgentBackend | undefined;
  /** What calls came to, by identity: read, and with `learn` written. */
  readonly known: Map<string, KnownCall>;
  readonly learn: boolean;
  readonly fault: Fault | undefined;
  readonly pacer: Pacer;
  readonly maxRetries: number;
  /** The identity of the call that has a key in this run. */
  identityOf(key: string): string;
}

/**
 * Answers the calls of one launch of a rehearsal, each when its turn comes: as in the undisturbed run where that had the
 * call, else by asking the backend; but for the one call that a fault is for.
 */
export function rehearsedBackend(options: RehearsedBackendOptions): AgentBackend {
  const { inner, pacer, known, learn, fault } = options;
  return {
    name: inner.name,
    defaultConcurrency: inner.defaultConcurrency,
    canRejoin: false,
    simulated: inner.simulated,
    model: inner.model,
    async run(request, signal, report) {
      await pacer.turnOf(request.key, signal);
      report.alive();
      const identity = options.identityOf(request.key);
      const call = known.get(identity);
      if (fault?.identity === identity) return actFaulty(fault, request, call);
      if (call !== undefined) return replay(call);
      const asked = await ask(options, request, identity, signal, report);
      if (learn) known.set(identity, asked);
      return replay(asked);
    },
    close: async () => {},
  };
}

function replay({ end }: KnownCall): AgentOutcome {
  if ('error' in end) throw end.error;
  return end.outcome;
}

async function ask(
  { inner, standIn, maxRetries }: RehearsedBackendOptions,
  request: AgentRequest,
  identity: string,
  signal: AbortSignal,
  report: AgentReporter,
): Promise<KnownCall> {
  // Answers that are made up from the key must not follow the order in which equal calls were made.
  const asked = { ...request, key: `v1:${hash('sha256', identity, 'hex')}` };
  const about = { prompt: request.prompt, structured: request.output !== undefined };
  const patient = withoutWaits(report, maxRetries);
  let usedStandIn = false;
  const answer = async (): Promise<AgentOutcome> => {
    try {
      return await inner.run(asked, signal, patient);
    } catch (error) {
      if (standIn === undefined || !isWorkflowError(error) || error.code !== 'AGENT_NO_RESPONSE') throw error;
      usedStandIn = true;
      return standIn.run(asked, signal, patient);
    }
  };
  try {
    const outcome = await answer();
    const leastJson = leastAnswer(request.output);
    return {
      ...about,
      end: { outcome },
      leastJson: leastJson === outcome.valueJson ? undefined : leastJson,
      standIn: usedStandIn,
    };
  } catch (error) {
    return { ...about, end: { error }, leastJson: undefined, standIn: usedStandIn };
  }
}

/** Tries again at once: a rehearsal is not about waits. */
function withoutWaits(report: AgentReporter, maxRetries: number): AgentReporter {
  let retries = 0;
  return {
    alive: () => report.alive(),
    usage() {}, // counted from the outcome
    toolStarted: (id, name) => report.toolStarted(id, name),
    toolFinished: (id, ok, summary) => report.toolFinished(id, ok, summary),
    transcript: report.transcript,
    async retry(failure) {
      if ((failure.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) throw quotaError(failure);
      if (retries >= maxRetries) throw exhaustedError(failure, maxRetries);
      retries += 1;
    },
  };
}

function actFaulty({ kind }: Fault, { label, output }: AgentRequest, call: KnownCall | undefined): AgentOutcome {
  switch (kind) {
    case 'null':
      throw new WorkflowError('AGENT_API', `The rehearsal let the agent "${label}" die.`);
    case 'reject':
      throw output === undefined
        ? new WorkflowError('AGENT_MAX_TURNS', `The rehearsal let the agent "${label}" run out of turns.`)
        : new WorkflowError('AGENT_OUTPUT_INVALID', `The rehearsal let the answers of "${label}" stay invalid.`, {
            data: { lastText: '{', validationErrors: ['it is no JSON'] },
          });
    case 'bad':
      return {
        valueJson: call?.leastJson ?? '""',
        empty: output === undefined,
        usage: { inputTokens: 0, outputTokens: 1 },
        toolUses: 0,
        attempts: output === undefined ? 0 : 1,
      };
  }
}
