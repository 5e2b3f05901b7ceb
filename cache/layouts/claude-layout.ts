import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AgentMeta, Clock, TranscriptRow } from '../../runtime/ports.ts';
import { sessionPlace } from './layout-place.ts';
import { blocksOf, type TranscriptBlock, textOf, usageOf } from './transcript-blocks.ts';
import type { LayoutPlace, RunLayout, TranscriptForm, TranscriptLayout } from './transcript-layout.ts';

type Row = Readonly<Record<string, unknown>>;

/** What rows of one agent have in common. */
interface Agent {
  readonly meta: AgentMeta | undefined;
  lastUuid: string | null;
}

/**
 * Files runs as Claude Code files those of its own workflows: `<projects>/<slug>/<session>/` with `workflows/scripts/`,
 * `workflows/<runId>.json` and `subagents/workflows/<runId>/agent-<id>.jsonl`. Source: spec H-19; the members of rows are
 * those that its transcripts are publicly known to have.
 */
export function createClaudeLayout(place: LayoutPlace): TranscriptLayout {
  return (run, clock) => {
    const { sessionId, directory } = sessionPlace(place, run);
    const agents = new Map<string, Agent>();
    const scriptPath = join(directory, 'workflows/scripts', `${fileSlug(run.name)}-${run.runId}.js`);
    return {
      form: claudeForm(run, sessionId, join(directory, 'subagents/workflows', run.runId), agents, clock),
      filesAtStart: (scriptText) => [{ path: scriptPath, text: scriptText }],
      filesAtEnd: (end) => [
        { path: join(directory, 'workflows', `${run.runId}.json`), text: runJson(end, scriptPath, agents) },
      ],
    };
  };
}

function claudeForm(
  run: RunRecord,
  sessionId: string,
  directory: string,
  agents: Map<string, Agent>,
  clock: Pick<Clock, 'now'>,
): TranscriptForm {
  const agentOf = (agentId: string): Agent => {
    const agent = agents.get(agentId) ?? { meta: undefined, lastUuid: null };
    agents.set(agentId, agent);
    return agent;
  };
  return {
    directory,
    fileName: (agentId) => `agent-${agentId}`,
    meta(meta) {
      agents.set(meta.agentId, { meta, lastUuid: agentOf(meta.agentId).lastUuid });
      const { type, label, phase, model, worktree } = meta;
      return {
        agentType: type,
        description: label,
        phase,
        model,
        ...(worktree === null ? {} : { worktreePath: worktree }),
      };
    },
    rows(agentId, row) {
      const agent = agentOf(agentId);
      const body = bodyOf(row, agent.meta?.model ?? null);
      if (body === undefined) return [];
      const uuid = randomUUID();
      const parentUuid = agent.lastUuid;
      agent.lastUuid = uuid;
      return [
        {
          parentUuid,
          isSidechain: true,
          userType: 'external',
          cwd: agent.meta?.worktree ?? run.cwd,
          sessionId,
          version: '0',
          gitBranch: agent.meta?.branch ?? '',
          agentId,
          ...body,
          uuid,
          timestamp: new Date(clock.now()).toISOString(),
        },
      ];
    },
  };
}

/** Type and message of a row; undefined for notes, which such a transcript has no place for. */
function bodyOf(row: TranscriptRow, model: string | null): Row | undefined {
  switch (row.type) {
    case 'user':
      return { type: 'user', message: { role: 'user', content: textOf(row, 'text') } };
    case 'tool_result': {
      const { toolUseId, content, isError } = row;
      const result = { type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError === true };
      return { type: 'user', message: { role: 'user', content: [result] } };
    }
    case 'assistant':
      return { type: 'assistant', message: assistantMessage(row, model) };
    case 'error': {
      const text = textOf(row, 'message') || 'The request failed.';
      return { type: 'system', subtype: 'api_error', level: 'error', content: text };
    }
    case 'note':
      return undefined;
  }
}

function assistantMessage(row: TranscriptRow, model: string | null): Row {
  const { inputTokens, outputTokens } = usageOf(row);
  return {
    id: `msg_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(row).map(contentOf),
    stop_reason: row['stopReason'] ?? null,
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  };
}

function contentOf(block: TranscriptBlock): Row {
  switch (block.type) {
    case 'text':
      return block;
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: inputOf(block.rawInput) };
    case 'other':
      return block.block;
  }
}

/** The input of a call; what is no JSON object stays visible as text. */
function inputOf(rawInput: string): unknown {
  try {
    return JSON.parse(rawInput);
  } catch {
    return { raw: rawInput };
  }
}

function runJson(end: Parameters<RunLayout['filesAtEnd']>[0], scriptPath: string, agents: Map<string, Agent>): string {
  const { record, scriptText, argsJson, output, resultJson } = end;
  const { usage, census } = output;
  const known = {
    runId: record.runId,
    workflowName: record.name,
    summary: record.description,
    status: output.status,
    scriptPath,
    script: scriptText,
    ...(argsJson === undefined ? {} : { args: JSON.parse(argsJson) as unknown }),
    startTime: record.createdAt,
    durationMs: usage.duration_ms,
    agentCount: census.agent_count,
    totalTokens: usage.total_tokens,
    totalToolCalls: usage.tool_uses,
    logs: output.logs.map(({ text }) => text),
    ...(output.error === undefined ? {} : { error: output.error.message }),
    workflowProgress: [...agents].map(([agentId, { meta }], at) => ({
      type: 'workflow_agent',
      index: at + 1,
      agentId,
      label: meta?.label,
      phaseTitle: meta?.phase ?? undefined,
      model: meta?.model ?? undefined,
      startedAt: meta?.startedAt,
    })),
  };
  const head = JSON.stringify(known).slice(0, -1);
  return `${head}${resultJson === undefined ? '' : `,"result":${resultJson}`}}\n`;
}

/** A name that is safe in a path. */
function fileSlug(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60);
  return slug.replace(/^-+|-+$/g, '') || 'workflow';
}
