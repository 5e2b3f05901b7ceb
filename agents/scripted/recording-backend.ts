import type { ResponseRule, ResponsesFile, ResponseTurn } from '../../protocol/responses-file.ts';
import { isWorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, AgentOutcome, AgentRequest, Redactor } from '../../runtime/ports.ts';

/**
 * Wraps a backend and records what each agent came to as a responses file for the scripted backend. Source: spec C-12
 * (`--record`).
 *
 * Each agent becomes one rule that answers once, in the order in which agents started, so that equal prompts get their
 * answers back in order. An agent that failed is recorded so that it fails alike; one that was aborted is left out.
 *
 * @param write takes the whole file as JSON text, once, when the backend is closed
 * @param redactor takes secrets out of it; a prompt that held one is matched by what stands around it
 */
export function createRecordingBackend(
  inner: AgentBackend,
  write: (text: string) => Promise<void>,
  redactor: Pick<Redactor, 'text' | 'json'> = { text: (text) => text, json: (value) => value },
): AgentBackend {
  const recorded: { rule?: ResponseRule }[] = [];
  let written = false;
  return {
    name: inner.name,
    defaultConcurrency: inner.defaultConcurrency,
    canRejoin: inner.canRejoin,
    simulated: inner.simulated,
    model: inner.model,
    costs: inner.costs === true,
    admit: (options) => inner.admit?.(options),
    warmUp: async () => inner.warmUp?.(),
    async run(request, signal, report) {
      const place: { rule?: ResponseRule } = {};
      recorded.push(place);
      try {
        const outcome = await inner.run(request, signal, report);
        place.rule = ruleOf(request, answerTurn(request, outcome), redactor);
        return outcome;
      } catch (error) {
        if (!signal.aborted) place.rule = ruleOf(request, failureTurn(error), redactor);
        throw error;
      }
    },
    async close() {
      await inner.close();
      if (written) return;
      written = true;
      const rules = recorded.map(({ rule }) => rule).filter((rule) => rule !== undefined);
      await write(`${JSON.stringify({ rules } satisfies ResponsesFile, null, 2)}\n`);
    },
  };
}

function ruleOf(
  { prompt, label }: AgentRequest,
  turn: ResponseTurn,
  redactor: Pick<Redactor, 'text' | 'json'>,
): ResponseRule {
  const clean = redactor.text(prompt);
  const parts = clean === prompt ? [prompt] : clean.split('[REDACTED]');
  const match = `^${parts.map(escapeRegex).join('[\\s\\S]*')}$`;
  return { match, label: redactor.text(label), times: 1, reply: [redactor.json(turn)] };
}

function answerTurn({ output }: AgentRequest, { valueJson, usage }: AgentOutcome): ResponseTurn {
  const value: unknown = JSON.parse(valueJson);
  const recorded = { usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens } };
  if (output === undefined) return { text: String(value), ...recorded };
  return { json: output.wrapped ? { value } : value, ...recorded };
}

/** Plans an answer that makes the scripted backend end in the same way. */
function failureTurn(error: unknown): ResponseTurn {
  const data = isWorkflowError(error) ? (error.data ?? {}) : {};
  const lastText = typeof data.lastText === 'string' ? data.lastText : '';
  const code = isWorkflowError(error) ? error.code : undefined;
  if (code === 'AGENT_NO_OUTPUT') return { text: lastText };
  if (code === 'AGENT_OUTPUT_INVALID') return { raw: lastText };
  const message = error instanceof Error ? error.message : String(error);
  return { error: { status: statusOf(code), message } };
}

/** A transient status would be retried on replay, so it is recorded as one that is not. */
function statusOf(code: string | undefined): number {
  if (code === 'AGENT_AUTH') return 401;
  return code === 'AGENT_QUOTA' ? 402 : 400;
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
