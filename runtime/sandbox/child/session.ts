import { HAS_ENDED, IS_STUCK, WAITS_FOR_HOST } from '../../../dsl/wire.ts';
import type { SandboxProgram } from '../sandbox.ts';
import { FROM_CHILD, type LimitNotice, type NestedOrder, type StartOrder } from '../wire.ts';
import { compileError } from './compile-error.ts';
import type { CompiledProgram, DoorMethod, GuestIsolate } from './isolate.ts';
import { describeRejection } from './rejection.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

/** How long the end of a script waits for its last turn, which a microtask loop left behind may hold up (S-33). */
const LAST_TURN_MS = 100;

export interface Session {
  start(order: StartOrder): void;
  answers(batchJson: string): void;
  nested(order: NestedOrder): void;
  /** Sends `number` back once all turns asked for so far have been taken and what they said was sent. */
  settle(number: string): void;
  /** The guest speaks, while it waits for this to return. */
  post(batchJson: string, final: boolean): void;
}

/** Runs one script in an isolate: hands it what arrives, sends what it says, and finds out how it ends. */
export function createSession(
  makeIsolate: (memoryLimitMb: number) => GuestIsolate,
  send: (line: string) => void,
): Session {
  let isolate: GuestIsolate | undefined;
  let watchdog: Watchdog | undefined;
  let cancelTick = (): void => {};
  let over = false;
  let finalLine: string | undefined;
  const nameScript = createScriptNames();
  /** Settles when the nested programs ordered so far have had their first turn. */
  let nesting: Promise<unknown> = Promise.resolve();

  const finish = (line: string): void => {
    if (over) return;
    over = true;
    cancelTick();
    send(line);
  };
  const stop = (notice: LimitNotice): void => finish(FROM_CHILD.limit + JSON.stringify(notice));
  const lost = (error: unknown): void => {
    if (isolate?.isLost === true) stop({ code: 'LIMIT_MEMORY' });
    else finish(FROM_CHILD.broken + (error instanceof Error ? error.message : String(error)));
  };

  /** One entry into the isolate, and the look at what came of it. */
  const turn = async (guest: GuestIsolate, method: DoorMethod, values: readonly unknown[]): Promise<void> => {
    watchdog?.begin();
    try {
      // Both entries are queued at once: the second runs when the microtasks of the first are done.
      const call = enter(guest, method, values);
      let settled = enter(guest, 'settle', []);
      await call;
      while ((await settled) === undefined) settled = enter(guest, 'settle', []);
      afterTurn(guest, await settled);
    } catch (error) {
      lost(error);
    } finally {
      watchdog?.end();
    }
  };

  /** Gives what the method gives, or undefined when the engine told of an unhandled rejection instead, which is noted. */
  const enter = async (guest: GuestIsolate, method: DoorMethod, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await guest.turn(method, values);
    } catch (reason) {
      if (guest.isLost) throw reason;
      if (method !== 'noteRejection') {
        const { key, text } = describeRejection(reason);
        await enter(guest, 'noteRejection', [key, text]);
      }
      return undefined;
    }
  };

  const afterTurn = (guest: GuestIsolate, said: unknown): void => {
    if (over) return;
    const [state, batch] = splitSettled(String(said));
    if (batch !== undefined) send(FROM_CHILD.guest + batch);
    cancelTick();
    if (state === HAS_ENDED || state === IS_STUCK) void conclude(guest);
    else if (state !== WAITS_FOR_HOST && finalLine === undefined) {
      cancelTick = after(state, () => void turn(guest, 'tick', []));
    }
  };

  const conclude = async (guest: GuestIsolate): Promise<void> => {
    await enter(guest, 'tellRejections', []).catch(() => {
      // The isolate is lost: the end stands.
    });
    finish(finalLine ?? FROM_CHILD.deadlock);
  };

  const compile = async (
    guest: GuestIsolate,
    program: SandboxProgram,
    scriptName: string,
  ): Promise<CompiledProgram | undefined> => {
    try {
      return await guest.compile(program.code, scriptName);
    } catch (error) {
      finish(`${FROM_CHILD.guest}${JSON.stringify([['threw', compileError(error, program)]])}`);
      return undefined;
    }
  };

  const start = async ({ program, options }: StartOrder): Promise<void> => {
    const guest = makeIsolate(options.memoryLimitMb);
    isolate = guest;
    watchdog = createWatchdog(options, () => guest.cpuMs(), stop);
    const scriptName = nameScript(program.fileName);
    const compiled = await compile(guest, program, scriptName);
    if (compiled === undefined) return;
    send(FROM_CHILD.ready);
    const { maxItems, confirmAbove = null, maxDepth, budgetTotal } = options;
    await turn(guest, 'start', [
      compiled,
      about(program, scriptName),
      JSON.stringify({ maxItems, confirmAbove, maxDepth, budgetTotal }),
    ]);
  };

  const nested = async (guest: GuestIsolate, { id, name, program }: NestedOrder): Promise<void> => {
    const scriptName = nameScript(program.fileName);
    let compiled: CompiledProgram;
    try {
      compiled = await guest.compile(program.code, scriptName);
    } catch (error) {
      const { name: kind, message, line } = compileError(error, program);
      const text = `${program.fileName}${line === undefined ? '' : `:${line}`}: ${kind}: ${message}`;
      const answer = ['no', id, { name: 'WorkflowError', code: 'SCRIPT_SYNTAX', message: text }, null];
      return turn(guest, 'receive', [JSON.stringify([answer])]);
    }
    await turn(guest, 'startNested', [compiled, about(program, scriptName), id, name]);
  };

  return {
    start: (order) => void start(order).catch(lost),
    answers: (batchJson) => void (isolate !== undefined && turn(isolate, 'receive', [batchJson])),
    nested(order) {
      if (isolate !== undefined) nesting = Promise.all([nesting, nested(isolate, order).catch(lost)]);
    },
    settle(number) {
      const guest = isolate;
      if (over || guest === undefined) return;
      // Entries run in order, so this one comes after the microtasks of all turns before it.
      void nesting
        .then(() => turn(guest, 'settle', []))
        .then(() => {
          if (!over) send(FROM_CHILD.settled + number);
        });
    },
    post(batchJson, final) {
      if (over) return;
      const line = FROM_CHILD.guest + batchJson;
      if (!final) return send(line);
      finalLine = line;
      setTimeout(() => finish(line), LAST_TURN_MS);
    },
  };
}

/** Calls back after a delay, or without any when there is none: a timer of this process waits a millisecond at least. */
function after(delayMs: number, callback: () => void): () => void {
  if (delayMs > 0) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  }
  const immediate = setImmediate(callback);
  return () => clearImmediate(immediate);
}

/** Parts what `settle` gave: a number, and a batch if there is one. */
function splitSettled(said: string): readonly [number, string | undefined] {
  const space = said.indexOf(' ');
  return space < 0 ? [Number(said), undefined] : [Number(said.slice(0, space)), said.slice(space + 1)];
}

/** Gives each program a name of its own, so that places in files of one name are told apart. */
function createScriptNames(): (fileName: string) => string {
  const taken = new Set<string>();
  return (fileName) => {
    let name = fileName;
    for (let number = 2; taken.has(name); number++) name = `${fileName}#${number}`;
    taken.add(name);
    return name;
  };
}

function about(program: SandboxProgram, scriptName: string): string {
  const { fileName, metaJson, argsJson } = program;
  return JSON.stringify({ fileName, scriptName, metaJson, argsJson: argsJson ?? null });
}
