import type { Census, CoreEventData } from '../protocol/core-event.ts';
import { preview } from '../protocol/preview.ts';
import { describeCost } from './describe-cost.ts';
import { formatDuration } from './format-duration.ts';

/** Characters of an error in a sentence. */
const MESSAGE_CHARACTERS = 300;

/**
 * Says in one line how a run ended. Begins with the death of all agents where that is so, because such a run is still
 * `completed`, and with the word SIMULATED where no model answered.
 */
export function describeEnd(
  workflowName: string,
  finished: Pick<CoreEventData<'run.finished'>, 'status' | 'error' | 'census' | 'usage'>,
  simulated = false,
): string {
  const name = `workflow "${preview(workflowName, 80)}"`;
  const cost = describeCost(finished.usage);
  const spent = cost === undefined ? '' : `, ${cost}`;
  const counts = `${describeCensus(finished.census)} in ${formatDuration(finished.usage.duration_ms)}${spent}`;
  const mark = simulated ? 'SIMULATED: ' : '';
  return mark + sentence(name, finished, counts);
}

function sentence(
  name: string,
  { status, error, census }: Pick<CoreEventData<'run.finished'>, 'status' | 'error' | 'census'>,
  counts: string,
): string {
  const why = error === undefined ? '' : `: ${preview(error.message, MESSAGE_CHARACTERS)} [${error.code}]`;
  switch (status) {
    case 'completed':
      return allAgentsDied(census)
        ? `No agent of ${name} gave an answer: ${describeDeaths(census)}, and the run completed without them (${counts})`
        : `Completed ${name} (${counts})`;
    case 'failed':
      return `Failed ${name}${why} (${counts})`;
    case 'killed':
      return `Stopped ${name}${why} (${counts})`;
    default:
      return status satisfies never;
  }
}

/** True when there were agents and none of them has a result. */
export function allAgentsDied(census: Census): boolean {
  return census.agent_count > 0 && census.agents_done === 0 && census.agents_error > 0;
}

/** `all 3 agents failed`, or how many of them did. */
export function describeDeaths({ agent_count, agents_error }: Census): string {
  if (agents_error < agent_count) return `${agents_error} of ${agent_count} agents failed`;
  return agent_count === 1 ? 'its only agent failed' : `all ${agent_count} agents failed`;
}

/** `3 agents: 2 done, 1 of them cached, 1 failed`. */
export function describeCensus(census: Census): string {
  if (census.agent_count === 0) return 'no agents';
  const parts = [
    `${census.agents_done} done`,
    ...(census.agents_cached > 0 ? [`${census.agents_cached} of them cached`] : []),
    ...(census.agents_error > 0 ? [`${census.agents_error} failed`] : []),
    ...(census.agents_skipped > 0 ? [`${census.agents_skipped} skipped`] : []),
    ...(census.agents_cancelled > 0 ? [`${census.agents_cancelled} cancelled`] : []),
    ...(census.agents_empty_result > 0 ? [`${census.agents_empty_result} with an empty answer`] : []),
  ];
  return `${census.agent_count} ${census.agent_count === 1 ? 'agent' : 'agents'}: ${parts.join(', ')}`;
}
