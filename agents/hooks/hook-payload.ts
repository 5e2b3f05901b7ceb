import type { AgentRequest } from '../../runtime/ports.ts';
import type { HookEvent, HookedSession } from './hooks.ts';

/** What every payload says of the place it comes from. */
export interface HookPlace {
  /** The host's conversation that started the runs; undefined for a run of its own. */
  readonly session: { readonly sessionId: string; readonly transcriptPath?: string } | undefined;
  readonly permissionMode: string;
}

/** Agents without a type of their own. Source: spec H-17. */
const DEFAULT_AGENT_TYPE = 'workflow-subagent';

/** Name of an agent's type, as payloads and matchers have it. */
export function hookAgentType({ options }: AgentRequest): string {
  return options.agentType ?? DEFAULT_AGENT_TYPE;
}

/**
 * Makes what a hook of an agent's event reads, as JSON. Source: spec H-17.
 *
 * A run that no host's conversation started is its own session: its id stands for the session's, and its log of events for
 * the transcript.
 */
export function agentPayload(
  event: HookEvent,
  request: AgentRequest,
  { session, permissionMode }: HookPlace,
  more: Readonly<Record<string, unknown>>,
): string {
  const { runId, eventsPath, transcriptPath } = request.run ?? {};
  return JSON.stringify({
    session_id: session?.sessionId ?? runId ?? '',
    transcript_path: session === undefined ? (eventsPath ?? '') : (session.transcriptPath ?? ''),
    cwd: request.cwd,
    hook_event_name: event,
    permission_mode: permissionMode,
    agent_id: request.agentId,
    agent_type: hookAgentType(request),
    agent_transcript_path: transcriptPath ?? '',
    workflow_run_id: runId ?? '',
    label: request.label,
    phase: request.phase,
    agent_key: request.key,
    ...more,
  });
}

/** The same for an event of a host's session. */
export function sessionPayload(
  event: HookEvent,
  { sessionId, transcriptPath, cwd }: HookedSession,
  permissionMode: string,
  more: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    session_id: sessionId,
    transcript_path: transcriptPath ?? '',
    cwd,
    hook_event_name: event,
    permission_mode: permissionMode,
    ...more,
  });
}
