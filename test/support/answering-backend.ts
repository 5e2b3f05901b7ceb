import type { AgentBackend, AgentOutcome, AgentRequest } from '../../runtime/ports.ts';

export interface AnsweringBackend extends AgentBackend {
  /** Prompts asked, in order. */
  readonly asked: string[];
}

/** A backend whose answers a test makes up: a string is a text, anything else a structured value, an error is thrown. */
export function answeringBackend(
  answer: (request: AgentRequest, signal: AbortSignal) => unknown | Promise<unknown> = () => 'ok',
): AnsweringBackend {
  const asked: string[] = [];
  return {
    name: 'answering',
    defaultConcurrency: 16,
    canRejoin: false,
    simulated: false,
    model: undefined,
    asked,
    async run(request, signal): Promise<AgentOutcome> {
      asked.push(request.prompt);
      const value = await answer(request, signal);
      if (value instanceof Error) throw value;
      return {
        valueJson: JSON.stringify(value),
        empty: value === '',
        usage: { inputTokens: 10, outputTokens: 5 },
        toolUses: 0,
        attempts: request.output === undefined ? 0 : 1,
      };
    },
    close: async () => {},
  };
}

/** Never answers; ends when it is aborted. */
export function silence(_request: AgentRequest, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
}
