import type { CoreEvent, CoreEventData, CoreEventType } from '../protocol/core-event.ts';
import type { WorkflowError } from '../protocol/workflow-error.ts';
import type { Clock, EventLog, EventSink, Redactor } from '../runtime/ports.ts';
import { ByteQueue, bytesAtMost } from './byte-queue.ts';
import { type Disk, type DiskFile, writeWhole } from './disk.ts';
import { type EventTail, nextOffset, openAfterTail } from './event-tail.ts';
import type { Lease } from './run-lease.ts';
import { SinkList } from './sink-list.ts';
import { unwritableError } from './unwritable-error.ts';

/** Above this much unwritten, `append` writes by itself, so that memory stays bounded. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;

export interface EventLogFileOptions {
  readonly disk: Disk;
  readonly path: string;
  readonly clock: Clock;
  /** End of what the file holds already; see `findEventTail`. */
  readonly tail: EventTail;
  readonly redactor?: Redactor | undefined;
  /** Asked after the file was opened, before it is changed. */
  readonly lease?: Lease | undefined;
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
  readonly #queue = new ByteQueue();
  #events: CoreEvent[] = [];
  #inFlight: { readonly pieces: readonly Uint8Array[]; readonly offset: number } | undefined;
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
    if (!this.#sinks.isEmpty) {
      this.#events.push(event);
    }
    if (this.#failure === undefined) {
      this.#pushLine(lineOf(event));
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
    while (this.#events.length > 0 || this.#queue.bytes > 0) {
      const events = this.#events;
      this.#events = [];
      if (this.#failure === undefined) {
        await this.#write(this.#queue.take()).catch((error) => this.#fail(error));
        this.#inFlight = undefined;
      }
      for (const event of events) {
        this.#sinks.handle(event);
      }
    }
    this.#draining = undefined;
  }

  #pushLine(json: string): void {
    const chunk = this.#queue.room(bytesAtMost(json) + 1);
    chunk.used += chunk.bytes.write(json, chunk.used);
    chunk.bytes[chunk.used] = NEWLINE;
    chunk.used += 1;
    if (this.#queue.bytes > HIGH_WATER_BYTES) {
      this.#writeNow();
    }
  }

  async #write(pieces: readonly Uint8Array[]): Promise<void> {
    const { disk, path, tail, lease } = this.#options;
    this.#file ??= await openAfterTail(disk, path, tail, async () => lease?.assertHeld());
    let offset = this.#offset;
    this.#offset += totalBytes(pieces);
    this.#inFlight = { pieces, offset };
    for (const piece of pieces) {
      await writeWhole(this.#file, piece, offset);
      offset += piece.length;
    }
    this.#inFlight = undefined;
    this.#queue.recycle(pieces);
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
        this.#writeSync(file, this.#inFlight.pieces, this.#inFlight.offset);
      }
      const pieces = this.#queue.take();
      this.#writeSync(file, pieces, this.#offset);
      this.#offset += totalBytes(pieces);
      this.#queue.recycle(pieces);
    } catch (error) {
      this.#fail(error);
    }
  }

  #writeSync(file: DiskFile, pieces: readonly Uint8Array[], from: number): void {
    let offset = from;
    for (const piece of pieces) {
      let written = 0;
      while (written < piece.length) {
        written += this.#options.disk.writeSync(file.fd, piece, written, piece.length - written, offset + written);
      }
      offset += piece.length;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= unwritableError(this.#options.path, error, 'Later events of this run are not stored.');
    this.#queue.take();
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

/** The JSON of an event. Its own members need no escapes, and put together by hand they cost a fifth less. */
function lineOf({ seq, at, type, data }: CoreEvent): string {
  return `{"seq":${seq},"at":${at},"type":"${type}","data":${JSON.stringify(data)}}`;
}

function totalBytes(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
