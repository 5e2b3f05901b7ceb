import type { CoreEvent, CoreEventData, CoreEventType } from '../protocol/core-event.ts';
import { createRunSummary, type RunSummary } from '../protocol/run-summary.ts';
import type { Clock, EventLog } from './ports.ts';

/** Where the parts of a run report what they do. */
export type EventWriter = Pick<EventLog, 'append'>;

/**
 * Passes events to the log and counts them on the way, so that the run knows its own totals at any moment. (As a sink of
 * the log the count would lag behind it, and every event would be kept until it was written.)
 */
export class CountedEvents implements EventWriter {
  readonly summary: RunSummary = createRunSummary({ keepAgents: false });
  readonly #log: EventLog;
  readonly #clock: Clock;

  constructor(log: EventLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  append<T extends CoreEventType>(type: T, data: CoreEventData<T>): void {
    this.summary.apply({ seq: 0, at: this.#clock.now(), type, data } as unknown as CoreEvent);
    this.#log.append(type, data);
  }
}
