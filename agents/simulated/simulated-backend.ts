import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, AgentOutcome, AgentReporter, AgentRequest, OutputContract } from '../../runtime/ports.ts';
import { makeValue } from './make-value.ts';
import type { SchemaNode } from './merge-schemas.ts';
import { createSeededRandom } from './seeded-random.ts';
import { CannotMakeError } from './value-maker.ts';

const DEFAULT_CONCURRENCY = 16;
const QUOTED_CHARACTERS = 80;
const CHARACTERS_PER_TOKEN = 4;
const MAX_TRIES = 24;

/**
 * Makes the backend that works without a model: a text that says it is simulated, or JSON that satisfies the
 * schema. The answer depends on the call's key alone. Rejects with `AGENT_NO_OUTPUT` when it cannot make a value.
 */
export function createSimulatedBackend(): AgentBackend {
  return {
    name: 'simulated',
    defaultConcurrency: DEFAULT_CONCURRENCY,
    canRejoin: false,
    simulated: true,
    model: undefined,
    run: async (request, signal, report) => runSimulated(request, signal, report),
    close: async () => {},
  };
}

function runSimulated(request: AgentRequest, signal: AbortSignal, report: AgentReporter): AgentOutcome {
  if (signal.aborted)
    throw new WorkflowError('RUN_CANCELLED', `The agent "${request.label}" was stopped before it began.`);
  report.alive();
  report.transcript?.({ type: 'user', text: request.prompt });
  const valueJson =
    request.output === undefined ? JSON.stringify(simulatedText(request)) : simulatedJson(request, request.output);
  const usage = { inputTokens: tokensOf(request.prompt), outputTokens: tokensOf(valueJson) };
  report.usage(usage);
  report.transcript?.({ type: 'assistant', simulated: true, value: JSON.parse(valueJson) });
  return { valueJson, empty: false, usage, toolUses: 0, attempts: request.output === undefined ? 0 : 1 };
}

function simulatedText({ key, prompt }: AgentRequest): string {
  const folded = prompt.replace(/\s+/g, ' ').trim();
  const start = [...folded].slice(0, QUOTED_CHARACTERS).join('');
  const quoted = start.length < folded.length ? `${start}…` : start;
  return `[simulated ${createSeededRandom(key).mark()}] No model answered. This stands in for the answer to: "${quoted}"`;
}

function simulatedJson({ key, label }: AgentRequest, output: OutputContract): string {
  let reason = '';
  for (let growth = 1; growth <= MAX_TRIES; growth += 1) {
    const random = createSeededRandom(`${key} ${growth}`);
    try {
      const value = makeValue(output.schema as SchemaNode, random, growth);
      const verdict = output.judge(JSON.stringify(output.wrapped ? { value } : value));
      if (verdict.ok) return verdict.valueJson;
      reason = verdict.errors[0] ?? verdict.message;
    } catch (error) {
      if (!(error instanceof CannotMakeError)) throw error;
      reason = error.message;
    }
  }
  throw new WorkflowError(
    'AGENT_NO_OUTPUT',
    `The simulated backend made no value that satisfies the schema of "${label}" (${reason}). Configure a model, or give the answer with the scripted backend.`,
  );
}

function tokensOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_TOKEN));
}
