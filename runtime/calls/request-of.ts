import type { AgentRequest, RunDirectory } from '../ports.ts';
import type { Replay } from '../replay/replay-index.ts';
import type { RunLimits } from '../run-options.ts';
import type { AgentCall } from './agent-ledger.ts';
import { agentIdOf } from './call-key.ts';

/** What the requests of a run have in common. */
export interface RequestParts {
  readonly cwd: string;
  readonly limits: RunLimits;
  readonly replay: Replay;
  readonly directory: RunDirectory;
  readonly transcripts: boolean;
}

/** Makes what a backend is asked for a call. */
export function requestOf(call: AgentCall, parts: RequestParts): AgentRequest {
  const { cwd, limits, replay, directory, transcripts } = parts;
  const { key } = call.identity;
  const agentId = agentIdOf(key);
  return {
    ...(replay.wasStarted(key) ? { startedBefore: true as const } : {}),
    key,
    agentId,
    prompt: call.prompt,
    label: call.label,
    phase: call.phase,
    options: call.options.agent,
    output: call.options.output,
    maxStructuredOutputRetries: limits.maxStructuredOutputRetries,
    cwd,
    run: {
      runId: directory.runId,
      eventsPath: `${directory.path}/events.ndjson`,
      ...(transcripts ? { transcriptPath: directory.agentFiles.transcriptPath(agentId) } : {}),
    },
  };
}
