import { nameOf } from './parts.ts';
import { apply, defineProperty, isPromise, makePromise, resolved, whenSettled } from './primordials.ts';
import { enterFrame, type Frame, fork, restoreFrame } from './scope.ts';

/**
 * What the runtime puts into a script calls these, in this order (`SCOPE_HOOKS` of `wire.ts`). A script has no name for them.
 *
 * An activation is one call of an async function. It is current from its start, or from the end of an `await`, to the next
 * `await` or its end; outside, the frame of whoever started or resumed it is.
 */
export interface Activation {
  readonly frame: Frame | null;
  outer: Frame | null;
  running: boolean;
}

export function createScopeHooks(): readonly unknown[] {
  return [enter, exit, leave, resume, walk, follow];
}

class Call implements Activation {
  readonly frame: Frame | null;
  outer: Frame | null;
  running = true;
  constructor() {
    this.frame = fork('call');
    this.outer = enterFrame(this.frame);
  }
}

// For the bodies that end with `using`.
defineProperty(Call.prototype, (Symbol as unknown as { readonly dispose: symbol }).dispose, {
  value(this: Activation): void {
    exit(this);
  },
});

/** An async function has been called. */
function enter(): Activation {
  return new Call();
}

/** Its body has ended. */
function exit(call: Activation): void {
  if (!call.running) return;
  call.running = false;
  restoreFrame(call.outer);
}

/** It is about to wait for `value`. */
function leave(call: Activation, value: unknown): unknown {
  const awaited = adopt(call.frame, value);
  exit(call);
  return awaited;
}

/** It goes on with `value`, or in a handler of its own. */
function resume(call: Activation, value: unknown): unknown {
  if (!call.running) {
    call.running = true;
    call.outer = enterFrame(call.frame);
  }
  return value;
}

/** The engine calls the `then` of an object that is no promise in a microtask of its own; here it runs in its frame. */
function adopt(frame: Frame | null, value: unknown): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || isPromise(value)) return value;
  const method: unknown = (value as { then?: unknown }).then;
  if (typeof method !== 'function') return value;
  return makePromise((resolve, reject) => {
    void whenSettled(resolved(undefined), () => {
      const before = enterFrame(frame);
      try {
        apply(method as () => unknown, value, [resolve, reject]);
      } catch (error) {
        reject(error);
      } finally {
        restoreFrame(before);
      }
    });
  });
}

/** A handler of a promise runs in the frame in which it was attached. */
function follow(handler: unknown): unknown {
  if (typeof handler !== 'function') return handler;
  const frame = fork('then');
  return frame === null ? handler : inFrame(frame, handler as () => unknown);
}

/** A function that runs in a frame. */
export function inFrame(
  frame: Frame | null,
  callback: (...values: never[]) => unknown,
): (...values: unknown[]) => unknown {
  return function (this: unknown, ...values: unknown[]): unknown {
    const before = enterFrame(frame);
    try {
      return apply(callback as () => unknown, this, values);
    } finally {
      restoreFrame(before);
    }
  };
}

/** What `for await` and `yield*` go through: each step of the iterator runs in the function's frame, then it waits. */
function walk(call: Activation, iterable: unknown): unknown {
  if (iterable === null || iterable === undefined) throw new TypeError(`${nameOf(iterable)} is not async iterable`);
  const { [Symbol.asyncIterator]: ofPromises, [Symbol.iterator]: ofValues } = iterable as Record<symbol, unknown>;
  const isAsync = ofPromises !== undefined && ofPromises !== null;
  const method = isAsync ? ofPromises : ofValues;
  if (typeof method !== 'function') throw new TypeError(`${nameOf(iterable)} is not async iterable`);
  const iterate = (): unknown => steps(call, apply(method as () => unknown, iterable, []));
  return isAsync ? { [Symbol.asyncIterator]: iterate } : { [Symbol.iterator]: iterate };
}

type Step = (...values: unknown[]) => unknown;

function steps(call: Activation, iterator: unknown): unknown {
  if ((typeof iterator !== 'object' && typeof iterator !== 'function') || iterator === null) return iterator;
  const inner = iterator as { readonly next: Step; readonly return?: Step; readonly throw?: Step };
  const step = (method: Step | undefined): Step | undefined => {
    if (typeof method !== 'function') return method;
    return (...values) => {
      resume(call, undefined);
      try {
        return apply(method, iterator, values);
      } finally {
        exit(call);
      }
    };
  };
  return {
    next: step(inner.next),
    get return() {
      return step(inner.return);
    },
    get throw() {
      return step(inner.throw);
    },
  };
}
