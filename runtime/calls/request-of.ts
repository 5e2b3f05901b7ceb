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

/** Gives what makes the request of a call, as a backend is asked for it. */
export function createRequests(parts: RequestParts): (call: AgentCall) => AgentRequest {
  const { cwd, limits, replay, directory, transcripts } = parts;
  const { maxStructuredOutputRetries } = limits;
  const run = { runId: directory.runId, eventsPath: `${directory.path}/events.ndjson` };
  return ({ identity, prompt, label, phase, options }) => {
    const { key } = identity;
    const agentId = agentIdOf(key);
    const request = {
      key,
      agentId,
      prompt,
      label,
      phase,
      options: options.agent,
      output: options.output,
      maxStructuredOutputRetries,
      cwd,
      run: transcripts ? { ...run, transcriptPath: directory.agentFiles.transcriptPath(agentId) } : run,
    };
    return replay.wasStarted(key) ? { ...request, startedBefore: true } : request;
  };
}
