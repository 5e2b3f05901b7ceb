import {
  type GuestMessage,
  MAX_LIMIT_NOTES,
  MAX_LOG_LINES,
  MAX_PART_FAILURES,
  MAX_PHASE_CHANGES,
  MAX_REJECTION_WARNINGS,
} from '../../dsl/wire.ts';
import { BadGuestMessage, decodeGuestBatch } from './decode-guest-batch.ts';
import { endOfGuest, endOfLimit } from './end-messages.ts';
import type { SandboxEnd, SandboxHandlers, SandboxOptions } from './sandbox.ts';
import { FROM_CHILD, type LimitNotice } from './wire.ts';

/** Understands the lines of a sandbox process and tells the runtime. */
export interface GuestReader {
  line(line: string): void;
  /** Takes an open call off the list; false when there is none of this id. */
  close(id: number): boolean;
  /** Number of the last ping that was answered. */
  readonly lastPong: number;
}

export interface GuestReaderEvents {
  ready(): void;
  /** The script came to rest, as the numbered request asked. */
  settled?(number: number): void;
  end(end: SandboxEnd): void;
}

/** A line more than the log keeps says so. */
const MOST_TOLD = {
  log: MAX_LOG_LINES + 1 + MAX_REJECTION_WARNINGS,
  part: MAX_PART_FAILURES,
  phase: MAX_PHASE_CHANGES,
  limit: MAX_LIMIT_NOTES,
} as const;

/**
 * Makes a reader. Whatever is not what an honest guest sends ends the sandbox as `crashed` (S-31): ids may not repeat, and
 * nothing follows the end.
 */
export function createGuestReader(
  options: SandboxOptions,
  handlers: SandboxHandlers,
  events: GuestReaderEvents,
): GuestReader {
  const open = new Set<number>();
  let lastId = 0;
  let lastPong = 0;
  const told = { log: 0, part: 0, phase: 0, limit: 0 };
  let over = false;

  const finish = (end: SandboxEnd): void => {
    over = true;
    events.end(end);
  };

  const openCall = (id: number): void => {
    if (id <= lastId) throw new BadGuestMessage(`the call number ${id} a second time`);
    lastId = id;
    open.add(id);
  };

  /** An honest guest bounds these itself; what exceeds the bounds would only fill the host's memory. */
  const count = (kind: keyof typeof told): void => {
    if (++told[kind] > MOST_TOLD[kind])
      throw new BadGuestMessage(`more than ${MOST_TOLD[kind]} messages of kind ${kind}`);
  };

  const tell = (message: GuestMessage): void => {
    switch (message[0]) {
      case 'agent': {
        const [, id, prompt, optsJson, scope, phase, workflow] = message;
        openCall(id);
        handlers.agent({ id, prompt, optsJson: optsJson ?? undefined, scope, phase, workflow });
        break;
      }
      case 'workflow': {
        const [, id, ref, argsJson, depth, callerFile] = message;
        openCall(id);
        handlers.workflow({ id, ref, argsJson: argsJson ?? undefined, depth, callerFile });
        break;
      }
      case 'fan': {
        const [, id, helper, count] = message;
        openCall(id);
        handlers.fanOut?.({ id, helper, count });
        break;
      }
      case 'limit':
        count('limit');
        handlers.limit?.(message[1], message[2]);
        break;
      case 'phase':
        if (message[2]) handlers.phase(message[1], 'child');
        else {
          count('phase');
          handlers.phase(message[1]);
        }
        break;
      case 'log':
        count('log');
        handlers.log(message[1], message[2]);
        break;
      case 'part': {
        const [, helper, index, stage, scope, error] = message;
        count('part');
        handlers.partFailed({ helper, index, scope, error, ...(stage === null ? {} : { stage }) });
        break;
      }
      default:
        finish(endOfGuest(message, options));
    }
  };

  const read = (line: string): void => {
    const body = line.slice(1);
    switch (line[0]) {
      case FROM_CHILD.guest:
        for (const message of decodeGuestBatch(body)) if (!over) tell(message);
        return;
      case FROM_CHILD.ready:
        events.ready();
        break;
      case FROM_CHILD.pong:
        lastPong = Math.max(lastPong, Number(body) || 0);
        return;
      case FROM_CHILD.settled:
        events.settled?.(Number(body) || 0);
        return;
      case FROM_CHILD.deadlock:
        finish({ type: 'deadlock' });
        break;
      case FROM_CHILD.limit:
        finish(endOfLimit(readNotice(body), options));
        break;
      case FROM_CHILD.broken:
        finish({ type: 'crashed', message: `The sandbox failed: ${body.slice(0, 1000)}` });
        break;
      default:
        throw new BadGuestMessage('a line of an unknown kind');
    }
  };

  return {
    line(line) {
      try {
        if (!over) read(line);
      } catch (error) {
        if (!(error instanceof BadGuestMessage)) throw error;
        finish({ type: 'crashed', message: `The sandbox process sent ${error.message}.` });
      }
    },
    close: (id) => open.delete(id),
    get lastPong() {
      return lastPong;
    },
  };
}

function readNotice(json: string): LimitNotice {
  try {
    const { code } = JSON.parse(json) as LimitNotice;
    if (code === 'LIMIT_CPU' || code === 'LIMIT_MEMORY') return { code };
  } catch {
    // Falls through to the refusal.
  }
  throw new BadGuestMessage('a malformed limit');
}
