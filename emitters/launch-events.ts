import type { CoreEvent } from '../protocol/core-event.ts';

/**
 * Gives the events of one start of a run out of its whole log. Every face shows one launch.
 *
 * @defaultValue `launch` the last one
 */
export function launchEvents(events: readonly CoreEvent[], launch?: number): readonly CoreEvent[] {
  const begins = events.findLastIndex(
    (event) => event.type === 'run.started' && (launch === undefined || event.data.launch === launch),
  );
  if (begins < 0) return [];
  const ends = events.findIndex((event, at) => at > begins && event.type === 'run.started');
  return events.slice(begins, ends < 0 ? undefined : ends);
}
