import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AgentMeta, Clock, TranscriptRow } from '../../runtime/ports.ts';
import { sessionPlace } from './layout-place.ts';
import { blocksOf, type TranscriptBlock, textOf, usageOf } from './transcript-blocks.ts';
import type { LayoutPlace, TranscriptForm, TranscriptLayout } from './transcript-layout.ts';

type Row = Readonly<Record<string, unknown>>;

interface Agent {
  meta: AgentMeta | undefined;
  lastId: string | undefined;
  /** Names of the tools that were called, by the id of the call. */
  readonly tools: Map<string, string>;
}

/**
 * Files runs as CodeBuddy Code files its subagents: `<projects>/<slug>/<session>/subagents/agent-<id>.jsonl`, with rows
 * `message`, `function_call` and `function_call_result`. Source: spec H-19; the members of rows are those that its transcripts
 * are publicly known to have.
 */
export function createCbcLayout(place: LayoutPlace): TranscriptLayout {
  return (run, clock) => {
    const { sessionId, directory } = sessionPlace(place, run);
    return {
      form: cbcForm(run, sessionId, join(directory, 'subagents'), clock),
      filesAtStart: () => [],
      filesAtEnd: () => [],
    };
  };
}

function cbcForm(run: RunRecord, sessionId: string, directory: string, clock: Pick<Clock, 'now'>): TranscriptForm {
  const agents = new Map<string, Agent>();
  const agentOf = (agentId: string): Agent => {
    const agent: Agent = agents.get(agentId) ?? { meta: undefined, lastId: undefined, tools: new Map() };
    agents.set(agentId, agent);
    return agent;
  };
  return {
    directory,
    fileName: (agentId) => `agent-${agentId}`,
    meta(meta) {
      agentOf(meta.agentId).meta = meta;
      const { type, label, phase, model } = meta;
      return { agentType: type, description: label, phase, model, workflowRunId: run.runId };
    },
    rows(agentId, row) {
      const agent = agentOf(agentId);
      return bodiesOf(row, agent).map((body) => {
        const id = randomUUID();
        const parentId = agent.lastId;
        agent.lastId = id;
        return {
          id,
          ...(parentId === undefined ? {} : { parentId }),
          timestamp: clock.now(),
          ...body,
          sessionId,
          cwd: agent.meta?.worktree ?? run.cwd,
        };
      });
    },
  };
}

function bodiesOf(row: TranscriptRow, agent: Agent): readonly Row[] {
  switch (row.type) {
    case 'user':
      return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: textOf(row, 'text') }] }];
    case 'assistant':
      return blocksOf(row).flatMap((block) => assistantRows(block, row, agent));
    case 'tool_result': {
      const callId = textOf(row, 'toolUseId');
      return [
        {
          type: 'function_call_result',
          name: agent.tools.get(callId) ?? '',
          callId,
          status: row['isError'] === true ? 'failed' : 'completed',
          output: { type: 'text', text: textOf(row, 'content') },
        },
      ];
    }
    case 'error':
    case 'note':
      return [];
  }
}

/** Text and calls; what only the provider reads has no row. */
function assistantRows(block: TranscriptBlock, row: TranscriptRow, agent: Agent): readonly Row[] {
  const { inputTokens, outputTokens } = usageOf(row);
  const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  const providerData = { model: agent.meta?.model ?? null, usage };
  switch (block.type) {
    case 'text': {
      const content = [{ type: 'output_text', text: block.text }];
      return [{ type: 'message', role: 'assistant', status: 'completed', content, providerData }];
    }
    case 'tool_use':
      agent.tools.set(block.id, block.name);
      return [{ type: 'function_call', name: block.name, callId: block.id, arguments: block.rawInput, providerData }];
    case 'other':
      return [];
  }
}
