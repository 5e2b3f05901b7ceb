/** The only file that loads `isolated-vm`. */
import type ivm from 'isolated-vm';
import { PRELUDE } from '../prelude.generated.ts';

/** A compiled program inside the isolate. */
export type CompiledProgram = ivm.Reference;

/**
 * One isolate with the guest's door open.
 *
 * Contract: nothing that may run a script's code is called synchronously, so this thread stays free while a script spins.
 * Promises reject when the isolate is lost; `turn` also rejects with the first rejection that the script left unhandled.
 */
export interface GuestIsolate {
  readonly memoryLimitMb: number;
  /** `scriptName` is what the engine calls the program in stacks. */
  compile(code: string, scriptName: string): Promise<CompiledProgram>;
  /** Calls a method of `dsl/door.ts` and lets the engine run the microtasks that follow. */
  turn(method: DoorMethod, values: readonly unknown[]): Promise<unknown>;
  /** CPU time of the isolate in milliseconds; readable while a script spins. */
  cpuMs(): number;
  readonly isLost: boolean;
  dispose(): void;
}

export type DoorMethod = 'start' | 'startNested' | 'receive' | 'tick' | 'settle' | 'noteRejection' | 'tellRejections';

const METHODS: readonly DoorMethod[] = [
  'start',
  'startNested',
  'receive',
  'tick',
  'settle',
  'noteRejection',
  'tellRejections',
];

/** Loads the native module from its file; its own loader searches folders that this process may not read. */
export function loadIsolatedVm(file: string): typeof ivm {
  const module = { exports: {} as { ivm: typeof ivm } };
  process.dlopen(module, file);
  return module.exports.ivm;
}

/** Makes an isolate, locks its realm down and opens its door. `post` is called while the script waits. */
export function createGuestIsolate(
  vm: typeof ivm,
  memoryLimitMb: number,
  post: (batchJson: string, final: boolean) => void,
): GuestIsolate {
  // No onCatastrophicError: with it the engine hangs where it would abort, and the abort is what the parent understands.
  const isolate = new vm.Isolate({ memoryLimit: Math.max(8, memoryLimitMb) });
  const context = isolate.createContextSync();
  const openDoor = isolate
    .compileScriptSync(PRELUDE, { filename: 'wf:prelude' })
    .runSync(context, { reference: true }) as ivm.Reference<(...values: unknown[]) => unknown>;
  const door = openDoor.applySync(undefined, [new vm.Callback(post)], { result: { reference: true } }) as ivm.Reference;
  const methods = {} as Record<DoorMethod, ivm.Reference<(...values: unknown[]) => unknown>>;
  for (const name of METHODS) methods[name] = door.getSync(name, { reference: true }) as never;
  return {
    memoryLimitMb,
    async compile(code, scriptName) {
      // The parser puts one line before the author's first (see runtime/script): it becomes line 0.
      const origin = { filename: scriptName, lineOffset: -1 };
      const script = await isolate.compileScript(code, origin);
      return (await script.run(context, { reference: true })) as ivm.Reference;
    },
    turn(method, values) {
      const inside = values.map((value) => (value instanceof vm.Reference ? value.derefInto() : value));
      return methods[method].apply(undefined, inside as never[]);
    },
    cpuMs: () => Number(isolate.cpuTime / 1000n) / 1000,
    get isLost() {
      return isolate.isDisposed;
    },
    dispose: () => isolate.dispose(),
  };
}
