import type { CoreEventData } from '../../protocol/core-event.ts';
import { PREVIEW_CHARACTERS, preview } from '../../protocol/preview.ts';
import type { AgentState, StreamJsonDialect, WorkflowAgent } from '../../protocol/stream-json.ts';

/** Agents up to this one have previews of full length; a run that has more is a large one (E-14). */
export const SMALL_RUN_AGENTS = 100;

const SHORT_PREVIEW_CHARACTERS = 200;
const LABEL_CHARACTERS = 200;
const TOOL_TEXT_CHARACTERS = 80;

/** Fields that may still change. Left out when undefined. */
type Changing = {
  -readonly [K in
    | 'startedAt'
    | 'endedAt'
    | 'durationMs'
    | 'attempt'
    | 'cached'
    | 'tokens'
    | 'costUsd'
    | 'toolCalls'
    | 'lastToolName'
    | 'error'
    | 'lastProgressAt'
    | 'lastToolSummary'
    | 'endedWithRun']?: WorkflowAgent[K] | undefined;
} & { state: AgentState };

/**
 * One agent as JSON text in three parts: members that never change, members that may, and previews. Texts are made anew
 * only for agents that changed, so a snapshot costs a join.
 */
export interface AgentRow {
  readonly index: number;
  readonly dialect: StreamJsonDialect;
  readonly fixed: string;
  readonly fixedBytes: number;
  readonly previewCharacters: number;
  previews: string;
  previewBytes: number;
  /** Undefined once the agent is final and its last change was written. */
  live: Changing | undefined;
  changing: string;
  changingBytes: number;
  /** Bytes of `changing` that a later change may take away. */
  volatileBytes: number;
  /** Whether a line has introduced the agent. */
  introduced: boolean;
  final: boolean;
  /** State changes that the row can still make. */
  changesLeft: number;
  /** What the row counts for in the sums of its board. */
  counted: RowBytes;
}

/** Bytes of a row in a snapshot. */
export interface RowBytes {
  readonly rich: number;
  /** Without previews. */
  readonly lean: number;
  /** The least it will take in the last snapshot. */
  readonly floor: number;
}

export function createAgentRow(who: CoreEventData<'agent.queued'>, atMs: number, dialect: StreamJsonDialect): AgentRow {
  const fixed = JSON.stringify({
    type: 'workflow_agent',
    index: who.index,
    agentId: who.key,
    label: preview(who.label, LABEL_CHARACTERS),
    phaseIndex: who.phaseIndex,
    phaseTitle: who.phaseTitle === undefined ? undefined : preview(who.phaseTitle, LABEL_CHARACTERS),
    model: who.model,
    ...(dialect === 'claude' ? { isolation: who.isolation } : {}),
    queuedAt: atMs,
  }).slice(1, -1);
  const previewCharacters =
    dialect === 'cbc' || who.index > SMALL_RUN_AGENTS ? SHORT_PREVIEW_CHARACTERS : PREVIEW_CHARACTERS;
  const row: AgentRow = {
    index: who.index,
    dialect,
    fixed,
    fixedBytes: Buffer.byteLength(fixed),
    previewCharacters,
    previews: '',
    previewBytes: 0,
    live: { state: 'start' },
    changing: '',
    changingBytes: 0,
    volatileBytes: 0,
    introduced: false,
    final: false,
    changesLeft: dialect === 'claude' ? 2 : 1,
    counted: { rich: 0, lean: 0, floor: 0 },
  };
  addPreview(row, 'promptPreview', who.promptPreview);
  return row;
}

function addPreview(row: AgentRow, name: 'promptPreview' | 'resultPreview', text: string | undefined): void {
  if (text === undefined) return;
  const member = `,"${name}":${JSON.stringify(preview(text, row.previewCharacters))}`;
  row.previews += member;
  row.previewBytes += Buffer.byteLength(member);
}

/** What an event did to a row: `major` changes its state, `minor` something else a person may want to see. */
export type RowChange = 'major' | 'minor' | 'none';

export function rowStarted({ live }: AgentRow, atMs: number, attempt: number): RowChange {
  if (live === undefined) return 'none';
  live.startedAt ??= atMs;
  live.attempt = attempt;
  return 'minor';
}

/** A sign of life. Dialect `cbc` has no state between `start` and the end. */
export function rowActive(row: AgentRow, atMs: number): RowChange {
  const { live } = row;
  if (live === undefined || row.final || row.dialect === 'cbc') return 'none';
  live.lastProgressAt = atMs;
  if (live.state === 'progress') return 'none';
  live.state = 'progress';
  row.changesLeft = 1;
  return 'major';
}

export function rowTool(row: AgentRow, atMs: number, tool: CoreEventData<'agent.tool'>): RowChange {
  const { live } = row;
  if (live === undefined || row.final) return 'none';
  const change = rowActive(row, atMs);
  live.lastToolName = preview(tool.name, TOOL_TEXT_CHARACTERS);
  if (tool.status === 'started') live.toolCalls = (live.toolCalls ?? 0) + 1;
  if (row.dialect === 'claude' && tool.summary !== undefined) {
    live.lastToolSummary = preview(tool.summary, TOOL_TEXT_CHARACTERS);
  }
  return change === 'major' ? 'major' : 'minor';
}

export function rowCached(row: AgentRow, atMs: number, data: CoreEventData<'agent.cached'>): void {
  const { live } = row;
  if (live === undefined) return;
  live.state = row.dialect === 'cbc' ? 'cached' : 'done';
  if (row.dialect === 'claude') live.cached = true;
  Object.assign(live, { startedAt: atMs, endedAt: atMs, durationMs: 0, tokens: 0 });
  addPreview(row, 'resultPreview', data.resultPreview);
  makeFinal(row);
}

export function rowFinished(row: AgentRow, atMs: number, data: CoreEventData<'agent.finished'>): void {
  const { live } = row;
  if (live === undefined || row.final) return;
  live.state = data.state === 'done' ? 'done' : 'error';
  live.endedAt = atMs;
  live.durationMs = data.durationMs;
  live.attempt = data.attempt;
  live.tokens = data.inputTokens + data.outputTokens;
  if (data.costUsd !== undefined) live.costUsd = data.costUsd;
  live.toolCalls = data.toolUses;
  if (data.state !== 'done') live.error = preview(finishedError(data), row.previewCharacters);
  addPreview(row, 'resultPreview', data.resultPreview);
  makeFinal(row);
}

function finishedError({ state, error }: CoreEventData<'agent.finished'>): string {
  if (state === 'skipped') return `skipped: ${error?.message ?? 'somebody skipped this agent'}`;
  if (state === 'cancelled') return `subagent aborted: ${error?.message ?? 'the agent was cancelled'}`;
  return error === undefined ? 'the agent failed' : `${error.message} [${error.code}]`;
}

/**
 * Ends an agent that was in flight when its run ended (E-10, E-11). `data` is its own end, where the log has one.
 */
export function rowEndedWithRun(
  row: AgentRow,
  atMs: number,
  how: 'stopped' | 'completed',
  reason: string,
  data?: CoreEventData<'agent.finished'>,
): void {
  const { live } = row;
  if (live === undefined || row.final) return;
  if (data !== undefined) rowFinished(row, atMs, data);
  live.state = 'error';
  live.error = preview(`subagent aborted: ${data?.error?.message ?? reason}`, row.previewCharacters);
  live.endedAt = atMs;
  if (live.startedAt !== undefined) live.durationMs ??= Math.max(0, atMs - live.startedAt);
  if (row.dialect === 'claude') live.endedWithRun = how;
  makeFinal(row);
}

function makeFinal(row: AgentRow): void {
  row.final = true;
  row.changesLeft = 0;
}

/** Makes the text of the changing members anew. */
export function renderRow(row: AgentRow): void {
  if (row.live === undefined) return;
  row.changing = JSON.stringify(row.live).slice(1, -1);
  row.changingBytes = Buffer.byteLength(row.changing);
  const { lastToolName, lastToolSummary } = row.live;
  row.volatileBytes = row.final ? 0 : Buffer.byteLength(JSON.stringify({ lastToolName, lastToolSummary }));
}

export function rowBytes(row: AgentRow): RowBytes {
  const lean = row.fixedBytes + row.changingBytes + '{,},'.length;
  const rich = lean + row.previewBytes;
  return { rich, lean, floor: rich - row.volatileBytes };
}

export function rowJson(row: AgentRow, withPreviews: boolean): string {
  return `{${row.fixed},${row.changing}${withPreviews ? row.previews : ''}}`;
}

/** JSON of what a reader who knows the agent has to learn; the whole row, without previews, for one who does not. */
export function rowChangeJson(row: AgentRow): string {
  return row.introduced ? `{"type":"workflow_agent","index":${row.index},${row.changing}}` : rowJson(row, false);
}

/** Notes that a line with the row's current fields was written. */
export function rowWritten(row: AgentRow): void {
  row.introduced = true;
  if (row.final) row.live = undefined;
}
