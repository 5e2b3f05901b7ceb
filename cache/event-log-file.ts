import type { CoreEvent, CoreEventData, CoreEventType } from '../protocol/core-event.ts';
import type { WorkflowError } from '../protocol/workflow-error.ts';
import type { Clock, EventLog, EventSink, Redactor } from '../runtime/ports.ts';
import { type Disk, type DiskFile, writeWhole } from './disk.ts';
import { type EventTail, nextOffset, openAfterTail } from './event-tail.ts';
import { SinkList } from './sink-list.ts';
import { unwritableError } from './unwritable-error.ts';

/** Above this many characters of unwritten events, `append` writes by itself, so that memory stays bounded. */
const HIGH_WATER_CHARS = 8 * 1024 * 1024;

export interface EventLogFileOptions {
  readonly disk: Disk;
  readonly path: string;
  readonly clock: Clock;
  /** End of what the file holds already; see `findEventTail`. */
  readonly tail: EventTail;
  readonly redactor?: Redactor | undefined;
  /** Told once of each sink that threw and was taken off. */
  readonly onSinkError?: ((error: unknown) => void) | undefined;
}

/**
 * Writes the events of a run in batches, one a turn of the event loop, and then hands them to the sinks.
 *
 * Contract:
 * - The file is opened, and a torn last line cut off, no earlier than the first append.
 * - When the disk refuses, nothing is written any more (`seq` would have gaps), but sinks still get every event, so that
 *   readers learn how the run ended; `flush` and `close` reject.
 */
export class EventLogFile implements EventLog {
  readonly #options: EventLogFileOptions;
  readonly #sinks: SinkList;
  #seq: number;
  #offset: number;
  #file: DiskFile | undefined;
  #failure: WorkflowError | undefined;
  #lines: string[] = [];
  #lineChars = 0;
  #events: CoreEvent[] = [];
  #inFlight: { readonly bytes: Buffer; readonly offset: number } | undefined;
  #draining: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: EventLogFileOptions) {
    this.#options = options;
    this.#sinks = new SinkList(options.clock, options.onSinkError);
    this.#seq = options.tail.seq;
    this.#offset = nextOffset(options.tail);
  }

  append<T extends CoreEventType>(type: T, data: CoreEventData<T>): void {
    if (this.#closed !== undefined) {
      return;
    }
    this.#seq += 1;
    const clean = this.#options.redactor?.json(data) ?? data;
    const event = { seq: this.#seq, at: this.#options.clock.now(), type, data: clean } as unknown as CoreEvent;
    const line = `${JSON.stringify(event)}\n`;
    this.#events.push(event);
    if (this.#failure === undefined) {
      this.#lines.push(line);
      this.#lineChars += line.length;
      if (this.#lineChars > HIGH_WATER_CHARS) {
        this.#writeNow();
      }
    }
    this.#draining ??= new Promise<void>((resolve) => {
      setImmediate(() => void this.#drain().then(resolve));
    });
  }

  addSink(sink: EventSink): void {
    this.#sinks.add(sink);
  }

  async flush(): Promise<void> {
    while (this.#draining !== undefined) {
      await this.#draining;
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    while (this.#events.length > 0) {
      const events = this.#events;
      const bytes = this.#takeLines();
      this.#events = [];
      if (this.#failure === undefined) {
        await this.#write(bytes).catch((error) => this.#fail(error));
        this.#inFlight = undefined;
      }
      for (const event of events) {
        this.#sinks.handle(event);
      }
    }
    this.#draining = undefined;
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#file ??= await openAfterTail(this.#options.disk, this.#options.path, this.#options.tail);
    const offset = this.#offset;
    this.#offset += bytes.length;
    this.#inFlight = { bytes, offset };
    await writeWhole(this.#file, bytes, offset);
  }

  #takeLines(): Buffer {
    const bytes = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#lineChars = 0;
    return bytes;
  }

  /**
   * Writes what waits at once. The batch on its way is written again to its own place, so that a crash leaves no hole
   * before these lines. Their events wait for the sinks as usual.
   */
  #writeNow(): void {
    const file = this.#file;
    if (file === undefined) {
      return;
    }
    try {
      if (this.#inFlight !== undefined) {
        this.#writeSync(file, this.#inFlight.bytes, this.#inFlight.offset);
      }
      const bytes = this.#takeLines();
      this.#writeSync(file, bytes, this.#offset);
      this.#offset += bytes.length;
    } catch (error) {
      this.#fail(error);
    }
  }

  #writeSync(file: DiskFile, bytes: Buffer, offset: number): void {
    let written = 0;
    while (written < bytes.length) {
      written += this.#options.disk.writeSync(file.fd, bytes, written, bytes.length - written, offset + written);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= unwritableError(this.#options.path, error, 'Later events of this run are not stored.');
    this.#lines = [];
    this.#lineChars = 0;
  }

  async #finish(): Promise<void> {
    await this.flush().catch(() => undefined);
    await this.#file?.datasync().catch((error) => this.#fail(error));
    await this.#file?.close().catch(() => undefined);
    await this.#sinks.close();
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }
}
