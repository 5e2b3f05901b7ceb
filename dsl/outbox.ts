import { stringifyJson } from './primordials.ts';
import type { GuestEnd, GuestMessage } from './wire.ts';

/** Hands the host one batch. `final` marks the batch that ends the guest. */
export type Post = (batchJson: string, final: boolean) => void;

/** Collects what the guest says in a turn. Nothing leaves after the end (S-33). */
export interface Outbox {
  push(message: GuestMessage): void;
  /** Sends at once, so that it is seen even if the script never yields again. */
  urgent(message: GuestMessage): void;
  flush(): void;
  /** What a flush would send; undefined when there is nothing. */
  take(): string | undefined;
  end(message: GuestEnd): void;
  /** Sends something about the run after its end. */
  afterword(message: GuestMessage): void;
  readonly ended: boolean;
}

/** A turn that says more than this is sent in pieces, so that a loop stays small in memory. */
const BATCH_MESSAGES = 256;
const BATCH_CHARACTERS = 1 << 20;

export function createOutbox(post: Post): Outbox {
  let batch: GuestMessage[] = [];
  let characters = 0;
  let ended = false;
  const send = (final: boolean): void => {
    const text = stringifyJson(batch);
    batch = [];
    characters = 0;
    post(text, final);
  };
  const outbox: Outbox = {
    push(message) {
      if (ended) return;
      batch[batch.length] = message;
      characters += weight(message);
      if (batch.length >= BATCH_MESSAGES || characters >= BATCH_CHARACTERS) send(false);
    },
    urgent(message) {
      if (ended) return;
      batch[batch.length] = message;
      send(false);
    },
    flush() {
      if (!ended && batch.length > 0) send(false);
    },
    take() {
      if (ended || batch.length === 0) return undefined;
      const text = stringifyJson(batch);
      batch = [];
      characters = 0;
      return text;
    },
    end(message) {
      if (ended) return;
      outbox.flush();
      ended = true;
      batch[0] = message;
      send(true);
    },
    afterword(message) {
      outbox.flush();
      post(stringifyJson([message]), false);
    },
    get ended() {
      return ended;
    },
  };
  return outbox;
}

/** Characters of what may be long in a message: the prompt, and the options with their schema. */
function weight(message: GuestMessage): number {
  return message[0] === 'agent' ? message[2].length + (message[3]?.length ?? 0) : 0;
}
