import type { Census, Usage } from '../../protocol/core-event.ts';
import type { StreamUsage, TaskNotification, TaskUpdated } from '../../protocol/stream-json.ts';
import type { BackgroundTask } from '../background-tasks.ts';
import { lineUuid } from './line-uuid.ts';

export interface TaskIdentity {
  readonly taskId: string;
  readonly sessionId: string;
  readonly toolUseId: string | undefined;
  /** Start of the run that this task shows, from 1. */
  readonly launch: number;
}

/** Fields of a progress line besides its arrays. */
export interface ProgressHead {
  readonly description: string;
  readonly usage: StreamUsage;
  readonly run_id?: string;
  readonly last_tool_name?: string;
  readonly summary?: string;
}

export interface StartedFields {
  readonly workflow_name: string;
  readonly description: string;
  readonly prompt?: string;
  readonly simulated?: true;
}

export interface NotificationFields {
  readonly status: TaskNotification['status'];
  readonly summary: string;
  readonly output_file: string;
  readonly usage: StreamUsage;
  readonly census: Census;
  readonly simulated?: true;
}

/**
 * Writes the lines of one task, without their line feed. A line is a body and an ending; only {@link TaskLines.end} takes
 * a UUID, so that a body that was measured and thrown away leaves no gap.
 */
export interface TaskLines {
  started(fields: StartedFields): string;
  /** Body of a progress line; `items` are JSON texts. */
  progress(head: ProgressHead, field: 'workflow_progress' | 'workflow_changes', items: readonly string[]): string;
  updated(patch: TaskUpdated['patch']): string;
  notification(fields: NotificationFields): string;
  backgroundTasks(tasks: readonly BackgroundTask[]): string;
  end(body: string): string;
  /** Bytes that {@link end} and the line feed add. */
  readonly endBytes: number;
}

export function createTaskLines(identity: TaskIdentity): TaskLines {
  const { taskId, sessionId, toolUseId, launch } = identity;
  const task = { task_id: taskId, ...(toolUseId === undefined ? {} : { tool_use_id: toolUseId }) };
  const session = `,"session_id":${JSON.stringify(sessionId)}}`;
  let lines = 0;
  const body = (subtype: string, fields: object): string =>
    JSON.stringify({ type: 'system', subtype, ...fields }).slice(0, -1);
  const end = (text: string): string =>
    `${escapeLineSeparators(text)},"uuid":"${lineUuid(taskId, launch, ++lines)}"${session}`;
  return {
    started: (fields) => end(body('task_started', { ...task, task_type: 'local_workflow', ...fields })),
    progress: (head, field, items) => `${body('task_progress', { ...task, ...head })},"${field}":[${items.join(',')}]`,
    updated: (patch) => end(body('task_updated', { ...task, patch })),
    notification: (fields) => end(body('task_notification', { ...task, ...fields })),
    backgroundTasks: (tasks) => end(body('background_tasks_changed', { tasks })),
    end,
    endBytes: ',"uuid":"","session_id":}'.length + 36 + Buffer.byteLength(JSON.stringify(sessionId)) + 1,
  };
}

/** Gives the usage of a line from that of a run. */
export const streamUsage = ({ total_tokens, tool_uses, duration_ms, cost_usd }: Usage): StreamUsage => ({
  total_tokens,
  tool_uses,
  duration_ms,
  ...(cost_usd === undefined ? {} : { cost_usd }),
});

const LINE_SEPARATOR = /[\u0085\u2028\u2029]/g;

/** Some readers also break lines at these, which JSON leaves as they are. */
export function escapeLineSeparators(json: string): string {
  return json.replace(LINE_SEPARATOR, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
