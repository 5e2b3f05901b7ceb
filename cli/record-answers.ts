import { rename, writeFile } from 'node:fs/promises';
import type { ResponsesFile, ResponseTurn } from '../protocol/responses-file.ts';
import { isWorkflowError, WorkflowError } from '../protocol/workflow-error.ts';
import type { AgentBackend, AgentOutcome, AgentRequest } from '../runtime/ports.ts';

type Rule = NonNullable<ResponsesFile['rules']>[number];

export interface AnswerRecorder {
  /** Does what the recorded backend does, and remembers its answers. */
  readonly backend: AgentBackend;
  /** Writes the answers so far as a file for `--responses`. @throws STATE_UNWRITABLE */
  save(): Promise<void>;
}

/** Records a real run as planned answers, in the order in which agents ended. Cached calls are not in it. Source: spec C-12. */
export function recordAnswers(backend: AgentBackend, path: string): AnswerRecorder {
  const rules: Rule[] = [];
  return {
    backend: {
      name: backend.name,
      defaultConcurrency: backend.defaultConcurrency,
      canRejoin: backend.canRejoin,
      simulated: backend.simulated,
      model: backend.model,
      close: () => backend.close(),
      async run(request, signal, report) {
        try {
          const outcome = await backend.run(request, signal, report);
          rules.push(ruleOf(request, answerTurn(request, outcome)));
          return outcome;
        } catch (error) {
          const turn = failureTurn(error);
          if (turn !== undefined) rules.push(ruleOf(request, turn));
          throw error;
        }
      },
    },
    save: () => saveFile(path, { rules }),
  };
}

function ruleOf(request: AgentRequest, turn: ResponseTurn): Rule {
  return { match: `^${escapePattern(request.prompt)}$`, label: request.label, times: 1, reply: [turn] };
}

function answerTurn(request: AgentRequest, outcome: AgentOutcome): ResponseTurn {
  const value: unknown = JSON.parse(outcome.valueJson);
  const usage = { input_tokens: outcome.usage.inputTokens, output_tokens: outcome.usage.outputTokens };
  return request.output === undefined && typeof value === 'string' ? { text: value, usage } : { json: value, usage };
}

/** What to answer so that the call fails alike; undefined for a call that was cancelled. */
function failureTurn(error: unknown): ResponseTurn | undefined {
  if (!isWorkflowError(error) || error.kind !== 'agent') return undefined;
  const status = typeof error.data?.['status'] === 'number' ? error.data['status'] : 400;
  const lastText = typeof error.data?.['lastText'] === 'string' ? error.data['lastText'] : '';
  switch (error.code) {
    case 'AGENT_NO_OUTPUT':
      return { text: lastText };
    case 'AGENT_OUTPUT_INVALID':
      return { raw: lastText };
    default:
      return { error: { status, message: error.message } };
  }
}

/** A pattern that matches the text itself, the whole of it. */
function escapePattern(text: string): string {
  return text
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}

async function saveFile(path: string, file: ResponsesFile): Promise<void> {
  const fresh = `${path}.new`;
  try {
    await writeFile(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    await rename(fresh, path);
  } catch (cause) {
    throw new WorkflowError(
      'STATE_UNWRITABLE',
      `the recorded answers cannot be written to ${path}: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}
