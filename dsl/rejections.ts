import type { Log } from './log.ts';
import { whenSettled } from './primordials.ts';
import { MAX_REJECTION_WARNINGS } from './wire.ts';

/**
 * Rejections that nobody had handled when their turn ended (S-26). They are told at the end of the run, unless a handler
 * came after all (S-27).
 *
 * The engine tells of each by a copy of the reason; the same reason is known again by its stack.
 */
export interface Rejections {
  /** `key` identifies the reason, `text` shows it. */
  note(key: string, text: string): void;
  readonly isWatching: () => boolean;
  readonly onPromiseUsed: (promise: Promise<unknown>) => void;
  tell(log: Log): void;
}

export function createRejections(): Rejections {
  const open = new Map<string, string>();
  return {
    note(key, text) {
      if (open.size < MAX_REJECTION_WARNINGS) open.set(key, text);
    },
    isWatching: () => open.size > 0,
    onPromiseUsed(promise) {
      try {
        void whenSettled(promise, undefined, (reason) => {
          open.delete(rejectionKey(reason));
        });
      } catch {
        // Not a promise: something else that inherits the property.
      }
    },
    tell(log) {
      for (const text of open.values()) log('warn', `A promise was rejected and nobody handled it: ${text}`);
      open.clear();
    },
  };
}

/** What the copy of a reason is compared by; the same on both sides of the door. */
export function rejectionKey(reason: unknown): string {
  try {
    const stack: unknown = reason instanceof Error ? reason.stack : undefined;
    if (typeof stack === 'string') return stack;
    return typeof reason === 'object' && reason !== null ? 'object' : `${typeof reason} ${String(reason)}`;
  } catch {
    return 'unreadable';
  }
}
