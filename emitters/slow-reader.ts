import type { Writable } from 'node:stream';
import type { Clock, TimerHandle } from '../runtime/ports.ts';

/** Lines that only add to others are dropped when so many bytes of them wait. */
const WAITING_ADDITIONS_BYTES = 64 * 1024;

const CLOSE_WITHIN_MS = 2000;

export interface LineWriter {
  /**
   * Takes a line without its line feed. Returns at once, whatever the reader does.
   *
   * @defaultValue `supersedes` true: when the reader is slow, the line replaces the uncritical ones that still wait. A line
   * that only adds to them waits behind them, and is dropped when too many do.
   */
  write(line: string, critical: boolean, supersedes?: boolean): void;
  /** Resolves when everything was taken by the reader, the reader is gone, or the time is up. Does not end the stream. */
  close(): Promise<void>;
  /** True once the reader is gone: closed, broken pipe, or an error. */
  readonly isGone: boolean;
}

export interface LineWriterOptions {
  /** @defaultValue the system's timers */
  readonly clock?: Pick<Clock, 'after'>;
  /** How long `close` waits for a slow reader. @defaultValue 2000 */
  readonly closeWithinMs?: number;
  /** Called once, when the reader is gone. */
  readonly onGone?: () => void;
}

interface WaitingLine {
  readonly text: string;
  readonly critical: boolean;
}

/**
 * Stands between an emitter and a stream, so that a reader which is slow or gone never holds up the run (E-3, E-9).
 *
 * Contract:
 * - Critical lines are written in their order and never dropped while there is a reader; of the others a slow reader gets
 *   the newest.
 * - Errors of the stream end the writing quietly. The stream keeps a listener for them, so that a late EPIPE is no crash.
 */
export function createLineWriter(stream: Writable, options: LineWriterOptions = {}): LineWriter {
  const after = options.clock?.after.bind(options.clock) ?? systemTimer;
  let waiting: WaitingLine[] = [];
  let isBlocked = false;
  let isGone = stream.destroyed || stream.writableEnded;
  let unconfirmed = 0;
  let onIdle: (() => void) | undefined;

  const settle = (): void => {
    if (isGone || (waiting.length === 0 && unconfirmed === 0)) onIdle?.();
  };
  const lose = (): void => {
    if (isGone) return;
    isGone = true;
    waiting = [];
    settle();
    options.onGone?.();
  };
  const send = (text: string): void => {
    unconfirmed++;
    try {
      isBlocked = !stream.write(`${text}\n`, (error) => {
        unconfirmed--;
        if (error) lose();
        else settle();
      });
    } catch {
      lose();
    }
  };
  const drain = (): void => {
    isBlocked = false;
    let sent = 0;
    while (!isBlocked && !isGone && sent < waiting.length) send(waiting[sent++]?.text ?? '');
    waiting = waiting.slice(sent);
    settle();
  };
  stream.on('error', lose);
  stream.on('close', lose);
  stream.on('drain', drain);

  return {
    write(text, critical, supersedes = true) {
      if (isGone) return;
      if (!isBlocked && waiting.length === 0) {
        send(text);
        return;
      }
      if (!critical && !supersedes && additionBytes(waiting) > WAITING_ADDITIONS_BYTES) return;
      if (!critical && supersedes) waiting = waiting.filter((line) => line.critical);
      waiting.push({ text, critical });
    },
    close: () =>
      new Promise<void>((resolve) => {
        const timer = after(options.closeWithinMs ?? CLOSE_WITHIN_MS, finish);
        function finish(): void {
          timer.cancel();
          onIdle = undefined;
          stream.off('close', lose);
          stream.off('drain', drain);
          resolve();
        }
        onIdle = finish;
        settle();
      }),
    get isGone() {
      return isGone;
    },
  };
}

function additionBytes(waiting: readonly WaitingLine[]): number {
  return waiting.reduce((sum, { text, critical }) => sum + (critical ? 0 : text.length), 0);
}

function systemTimer(delayMs: number, callback: () => void): TimerHandle {
  const timer = setTimeout(callback, delayMs);
  return { cancel: () => clearTimeout(timer) };
}
