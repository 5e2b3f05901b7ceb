import type { Readable } from 'node:stream';
import { isNestedTooDeeply, MAX_JSON_LEVELS } from '../../protocol/json-nesting.ts';
import { clientControlResponseSchema, stdioInputSchema } from '../../protocol/stdio-input.ts';
import { createControlRequests } from './control-requests.ts';
import { type InputLine, readInputLines } from './line-reader.ts';
import type { OpenSession } from './open-session.ts';
import { initializeAnswer, type SessionFacts } from './session-facts.ts';
import type { SessionSettings } from './session-settings.ts';

export interface ServeStdioOptions extends OpenSession {
  readonly input: Readable;
  readonly facts: SessionFacts;
  readonly settings: SessionSettings;
  /** Told, in a sentence, of a line that could not be used. */
  readonly onSkipped: (why: string) => void;
}

/**
 * Reads a client's lines to the end of its input and gives each to the session. Resolves when the input has ended; the
 * session's own `done` says when all that it caused is over.
 *
 * Contract: nothing that a client writes ends the host. What cannot be understood is skipped with a word to `onSkipped`,
 * or answered with an error where it names a request. Nothing is written before something was read.
 */
export async function serveStdio(options: ServeStdioOptions): Promise<void> {
  const { input, facts, session, prompts } = options;
  const control = createControlRequests({
    ...options,
    sessionId: facts.sessionId,
    mcpServers: facts.mcpServers,
    describe: () => initializeAnswer(facts),
  });
  for await (const line of readInputLines(input)) {
    const message = parseLine(line, options);
    if (message === undefined) continue;
    const parsed = stdioInputSchema.safeParse(message);
    if (!parsed.success) {
      answerMisshapen(message, options);
      continue;
    }
    switch (parsed.data.type) {
      case 'control_request':
        control(parsed.data);
        break;
      case 'control_response':
        prompts.answer(parsed.data);
        break;
      case 'user':
        session.submit(parsed.data);
        break;
      default:
        parsed.data satisfies never;
    }
  }
  prompts.close();
  session.endInput();
}

type Message = Readonly<Record<string, unknown>>;

function parseLine(line: InputLine, options: ServeStdioOptions): Message | undefined {
  const { onSkipped } = options;
  if (line.type === 'too-long') {
    onSkipped(`a line of ${line.bytes.toLocaleString('en-US')} bytes was skipped: it is longer than 64 MiB`);
    return undefined;
  }
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    onSkipped(`a line that is not JSON was skipped: ${(error as Error).message}`);
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    onSkipped('a line that is no JSON object was skipped');
    return undefined;
  }
  if (isNestedTooDeeply(value)) return refuseDeep(value as Message, options);
  return value as Message;
}

/** What only a recursive reader could take is answered where somebody waits for it. */
function refuseDeep(message: Message, { lines, prompts, onSkipped }: ServeStdioOptions): undefined {
  const what = `nested more than ${MAX_JSON_LEVELS.toLocaleString('en-US')} levels deep`;
  const { type, request_id: requestId } = message;
  const answer = clientControlResponseSchema.safeParse(message).data;
  if (answer !== undefined) {
    const { request_id } = answer.response;
    prompts.answer({ type: answer.type, response: { subtype: 'error', request_id, error: `its answer is ${what}` } });
  } else if (type === 'control_request' && typeof requestId === 'string') {
    answerWithError(requestId, `The request is ${what}. Send a flatter one.`, lines);
  } else onSkipped(`a line was skipped: it is ${what}`);
  return undefined;
}

function answerWithError(requestId: string, error: string, lines: ServeStdioOptions['lines']): void {
  lines.control({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } });
}

/** Types that clients send for other programs than this one, or only to be heard. */
const QUIETLY_SKIPPED = new Set([
  'keep_alive',
  'control_cancel_request',
  'assistant',
  'system',
  'result',
  'update_environment_variables',
]);

function answerMisshapen(message: Message, { lines, onSkipped }: ServeStdioOptions): void {
  const { type, request_id: requestId } = message;
  if (type === 'control_request' && typeof requestId === 'string') {
    answerWithError(requestId, 'The request has no "request" with a "subtype".', lines);
  } else if (typeof type !== 'string' || !QUIETLY_SKIPPED.has(type)) {
    const named = typeof type === 'string' ? JSON.stringify(type.slice(0, 60)) : 'none';
    onSkipped(`a line was skipped: its type is ${named}, or it lacks what such a line needs`);
  }
}
