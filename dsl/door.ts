import { addAuthorFile } from './author-files.ts';
import { createCalls } from './calls.ts';
import { toErrorData } from './error-data.ts';
import { createFanOut } from './fan-out.ts';
import { defineGlobal } from './freeze-intrinsics.ts';
import { createGlobals, createShared, type Shared } from './globals.ts';
import { lockdown } from './lockdown.ts';
import { createLogWriter } from './log.ts';
import { createOutbox, type Outbox, type Post } from './outbox.ts';
import { apply, freeze, ownKeys, parseJson, whenSettled } from './primordials.ts';
import { pureGlobals } from './pure-globals.ts';
import { createRejections, type Rejections } from './rejections.ts';
import { toResultJson } from './result-json.ts';
import { childScope, enterFrame, makeWorkflow, restoreFrame, type Workflow } from './scope.ts';
import { createScopeHooks } from './scope-hooks.ts';
import { createTimers, type Timers } from './timers.ts';
import { HAS_ENDED, type HostAnswer, IS_STUCK, WAITS_FOR_HOST } from './wire.ts';

export interface GuestOptions {
  readonly maxItems: number;
  readonly confirmAbove: number | null;
  readonly maxDepth: number;
  readonly budgetTotal: number | null;
}

export interface GuestProgram {
  readonly fileName: string;
  /** The name under which the engine knows the program: no two have the same. */
  readonly scriptName: string;
  readonly metaJson: string;
  readonly argsJson: string | null;
}

/** A compiled program: takes the globals of its workflow and what keeps its scopes, gives its body. */
export type Program = (...globals: unknown[]) => () => Promise<unknown>;

/**
 * What the host may ask of the guest; everything is text, numbers, or a compiled program. No method throws.
 *
 * After each of them the engine runs microtasks until none is left, then the host calls `settle`.
 */
export interface Door {
  start(program: Program, programJson: string, optionsJson: string): void;
  startNested(program: Program, programJson: string, id: number, name: string): void;
  receive(batchJson: string): void;
  tick(): void;
  /**
   * A number, and after it a space and the batch of what the turn said, if anything. The number is a delay in milliseconds
   * until the next timer, or `WAITS_FOR_HOST`, `HAS_ENDED` or `IS_STUCK`.
   */
  settle(): string;
  /** Tells of a rejection that the engine reported as unhandled. */
  noteRejection(key: string, text: string): void;
  /** Logs the rejections that are still unhandled. */
  tellRejections(): void;
}

interface Guest {
  readonly outbox: Outbox;
  readonly timers: Timers;
  readonly rejections: Rejections;
  /** Output tokens spent by the last answer. */
  spent: number;
  shared: Shared | undefined;
}

/** Locks the realm down and opens the door. Called once, before any program. */
export function openDoor(post: Post): Door {
  const outbox = createOutbox(post);
  const rejections = createRejections();
  const timers = createTimers();
  const guest: Guest = { outbox, timers, rejections, spent: 0, shared: undefined };
  const fail = (error: unknown): void => outbox.end(['threw', toErrorData(error)]);
  lockdown({
    isWatching: rejections.isWatching,
    onPromiseUsed: rejections.onPromiseUsed,
    globals: { ...pureGlobals(fail), setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout },
  });
  const log = createLogWriter(outbox);
  return {
    start(program, programJson, optionsJson) {
      const options = parseJson(optionsJson) as GuestOptions;
      const calls = createCalls();
      const fanOut = createFanOut(outbox, calls, options.maxItems, options.confirmAbove);
      const parts = { outbox, calls, log, fanOut, maxDepth: options.maxDepth };
      guest.shared = createShared(parts, options.budgetTotal, () => guest.spent);
      startRoot(guest, guest.shared, program, parseJson(programJson) as GuestProgram);
    },
    startNested(program, programJson, id, name) {
      startNested(guest.shared as Shared, program, parseJson(programJson) as GuestProgram, id, name);
    },
    receive(batchJson) {
      for (const answer of parseJson(batchJson) as HostAnswer[]) {
        if (answer[3] !== null) guest.spent = answer[3];
        guest.shared?.calls.settle(answer);
      }
    },
    tick() {
      try {
        timers.runDue();
      } catch (error) {
        fail(error);
      }
    },
    settle: () => settle(guest),
    noteRejection: (key, text) => rejections.note(key, text),
    tellRejections: () => rejections.tell((level, text) => outbox.afterword(['log', level, text])),
  };
}

function settle(guest: Guest): string {
  const batch = guest.outbox.take();
  return batch === undefined ? `${stateOf(guest)}` : `${stateOf(guest)} ${batch}`;
}

function stateOf(guest: Guest): number {
  if (guest.outbox.ended) return HAS_ENDED;
  const delayMs = guest.timers.nextDelayMs();
  if (delayMs !== undefined) return Math.ceil(delayMs);
  return (guest.shared?.calls.waiting ?? 0) > 0 ? WAITS_FOR_HOST : IS_STUCK;
}

function startRoot(guest: Guest, shared: Shared, program: Program, about: GuestProgram): void {
  const workflow = makeWorkflow(null, 0, about.fileName, '');
  const globals = prepare(workflow, shared, program, about);
  for (const name in globals) defineGlobal(name, globals[name]);
  run(
    workflow,
    program,
    globals,
    (value) => endWith(guest, value),
    (error) => guest.outbox.end(['threw', toErrorData(error)]),
  );
}

function endWith(guest: Guest, value: unknown): void {
  try {
    const result = toResultJson(value);
    guest.outbox.end(
      result.ok ? ['returned', result.json ?? null, result.warnings] : ['not-json', result.path, result.what],
    );
  } catch (error) {
    guest.outbox.end(['threw', toErrorData(error)]);
  }
}

function startNested(shared: Shared, program: Program, about: GuestProgram, id: number, name: string): void {
  const call = shared.nested.get(id);
  if (call === undefined) return;
  shared.nested.delete(id);
  const title = `▸ ${name}`;
  const workflow = makeWorkflow(name, call.caller.depth + 1, about.fileName, childScope(call.frame, name, call.count));
  workflow.root.ownPhase = title;
  shared.outbox.push(['phase', title, true]);
  run(
    workflow,
    program,
    prepare(workflow, shared, program, about),
    (value) => shared.calls.finish(id, () => copyResult(value)),
    (error) =>
      shared.calls.finish(id, () => {
        throw error;
      }),
  );
}

/** A nested workflow's result is JSON like any workflow's. */
function copyResult(value: unknown): unknown {
  const result = toResultJson(value);
  if (!result.ok) {
    const at = result.path === '' ? 'it is' : `\`${result.path}\` is`;
    throw new TypeError(`The nested workflow's result is not JSON: ${at} ${result.what}.`);
  }
  return result.json === undefined ? undefined : parseJson(result.json);
}

function prepare(
  workflow: Workflow,
  shared: Shared,
  program: Program,
  about: GuestProgram,
): Readonly<Record<string, unknown>> {
  addAuthorFile(about.scriptName, about.fileName, program);
  return {
    ...createGlobals(workflow, shared),
    args: about.argsJson === null ? undefined : parseJson(about.argsJson),
    meta: freezeData(parseJson(about.metaJson)),
  };
}

function freezeData(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const key of ownKeys(value)) freezeData((value as Record<PropertyKey, unknown>)[key]);
  return freeze(value);
}

const SCOPE_HOOKS = createScopeHooks();

/** Starts a program's body. */
function run(
  workflow: Workflow,
  program: Program,
  globals: Readonly<Record<string, unknown>>,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
): void {
  const body = apply(program, undefined, [...Object.values(globals), ...SCOPE_HOOKS]);
  const before = enterFrame(workflow.root);
  try {
    void whenSettled(body(), onValue, onError);
  } finally {
    restoreFrame(before);
  }
}
