import { toErrorData } from './error-data.ts';
import type { FanOut } from './fan-out.ts';
import { originOf } from './host-errors.ts';
import type { Log } from './log.ts';
import type { Outbox } from './outbox.ts';
import { apply, isArray, makePromise, resolved, whenSettled } from './primordials.ts';
import { enterFrame, type Frame, restoreFrame, scopeOf, type Workflow } from './scope.ts';
import { type HelperName, MAX_PART_FAILURES } from './wire.ts';

/** What the helpers share: the workflow they act for and where failures are told. */
export interface HelperContext {
  readonly workflow: Workflow;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly fanOut: FanOut;
  readonly failures: { told: number };
}

/** Runs a thunk or a stage in its frame and hands on what it comes to, exactly once. */
export function runPart(
  frame: Frame,
  part: (...values: never[]) => unknown,
  values: readonly unknown[],
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  const before = enterFrame(frame);
  let value: unknown;
  try {
    value = apply(part as () => unknown, undefined, values);
  } catch (error) {
    onError(error);
    return;
  } finally {
    restoreFrame(before);
  }
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    onValue(value);
    return;
  }
  void whenSettled(resolved(value), onValue, onError);
}

/** The slots of one helper call, and the promise of them all. */
export interface Slots {
  readonly done: Promise<unknown[]>;
  fill(index: number, value: unknown): void;
  /** Notes an error that is no part's own fault: the helper rejects with the first once all parts have settled (S-13). */
  pass(error: unknown): void;
}

export function createSlots(count: number): Slots {
  const results: unknown[] = [];
  for (let at = 0; at < count; at++) results[at] = null;
  let left = count;
  let passing: { readonly error: unknown } | undefined;
  let settle: () => void = () => {};
  const done = makePromise<unknown[]>((resolve, reject) => {
    settle = () => (passing === undefined ? resolve(results) : reject(passing.error));
  });
  const one = (): void => {
    if (--left === 0) settle();
  };
  if (count === 0) settle();
  return {
    done,
    fill(index, value) {
      results[index] = value;
      one();
    },
    pass(error) {
      passing ??= { error };
      one();
    },
  };
}

/** Settles a slot whose part threw: `null`, and told, unless the host knows already or the error passes through. */
export function failPart(
  context: HelperContext,
  slots: Slots,
  part: { helper: HelperName; index: number; stage: number | null; frame: Frame },
  error: unknown,
): void {
  const origin = originOf(error);
  if (origin?.passesThrough === true) {
    slots.pass(error);
    return;
  }
  if (origin === undefined && context.failures.told < MAX_PART_FAILURES) {
    context.failures.told++;
    const data = toErrorData(error);
    const place = data.line === undefined ? '' : ` (${data.file}:${data.line}:${data.column})`;
    const stage = part.stage === null ? '' : `, stage ${part.stage}`;
    context.log('warn', `${part.helper}: item ${part.index}${stage} failed: ${data.name}: ${data.message}${place}`);
    context.outbox.push(['part', part.helper, part.index, part.stage, scopeOf(part.frame), data]);
  }
  slots.fill(part.index, null);
}

/** Says in a message what a value is. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return typeof (value as { then?: unknown }).then === 'function' ? 'a promise' : 'an object';
}
