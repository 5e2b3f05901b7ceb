import type { AgentBackend, AgentReporter, TranscriptRow } from '../../runtime/ports.ts';
import type { HostLines } from './host-lines.ts';

/** A message of an agent of a workflow, as far as a client may show it. */
export interface SubagentMessage {
  readonly runId: string;
  readonly agentId: string;
  readonly model: string | undefined;
  readonly text: string;
}

/** Characters of one message; the agent's transcript has it whole. */
const MAX_CHARACTERS = 100_000;

/** Lets `tell` hear what the agents of a backend say in words: no tools, no structured answers. */
export function overhearAgents(backend: AgentBackend, tell: (message: SubagentMessage) => void): AgentBackend {
  return {
    ...backend,
    run(request, signal, report) {
      const { agentId, run, options } = request;
      const model = options.model ?? backend.model;
      return backend.run(request, signal, {
        ...delegate(report),
        transcript(row) {
          report.transcript?.(row);
          const text = textOf(row);
          if (text !== '' && run !== undefined) tell({ runId: run.runId, agentId, model, text });
        },
      });
    },
  };
}

function delegate(report: AgentReporter): AgentReporter {
  return {
    alive: () => report.alive(),
    usage: (delta, model) => report.usage(delta, model),
    toolStarted: (id, name) => report.toolStarted(id, name),
    toolFinished: (...told) => report.toolFinished(...told),
    retry: (failure) => report.retry(failure),
    warn: (text) => report.warn?.(text),
    ...(report.redactor === undefined ? {} : { redactor: report.redactor }),
    ...(report.transcriptSaved === undefined ? {} : { transcriptSaved: async () => report.transcriptSaved?.() }),
    ...(report.keepFile === undefined
      ? {}
      : { keepFile: (name: string, text: string) => report.keepFile?.(name, text) ?? Promise.resolve('') }),
  };
}

function textOf({ type, ...row }: TranscriptRow): string {
  if (type !== 'assistant') return '';
  const blocks = Array.isArray(row['blocks']) ? (row['blocks'] as readonly Readonly<Record<string, unknown>>[]) : [row];
  const texts = blocks.map(({ text }) => (typeof text === 'string' ? text : ''));
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

/** Shows what an agent said as a message of its own; a client that reads slowly may miss some. */
export function saySubagentText(
  { agentId, model, text }: SubagentMessage,
  parentToolUseId: string | undefined,
  lines: Pick<HostLines, 'mention'>,
  newUuid: () => string,
): void {
  lines.mention({
    type: 'assistant',
    message: {
      id: `msg_${newUuid().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model: model ?? '<unknown>',
      content: [{ type: 'text', text: text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text }],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
    parent_tool_use_id: parentToolUseId ?? null,
    agent_id: agentId,
  });
}
