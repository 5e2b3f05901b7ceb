/**
 * The sandbox process. Its one argument is the file of the native module; it speaks lines (`../wire.ts`) on its standard
 * input and output and does nothing else.
 */
import { DEFAULT_MEMORY_LIMIT_MIB, FROM_CHILD, type NestedOrder, type StartOrder, TO_CHILD } from '../wire.ts';
import { createGuestIsolate, type GuestIsolate, loadIsolatedVm } from './isolate.ts';
import { readLines, writeLines } from './line-pipe.ts';
import { createSession, type Session } from './session.ts';

/** SIGKILL to itself: while an isolate spins, `process.exit()` would wait for it (S-31). */
const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** A terminal sends its signals to all of its processes; what they mean for a run is the parent's to say. */
function leaveSignalsToParent(): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
}

function serve(nativeModule: string): void {
  const vm = loadIsolatedVm(nativeModule);
  const { line: send } = writeLines(1, die);
  let session: Session;
  const make = (memoryLimitMb: number): GuestIsolate =>
    createGuestIsolate(vm, memoryLimitMb, (batchJson, final) => session.post(batchJson, final));
  // Made before the script's limit is known, since it takes a while and the usual limit is the default.
  const early = make(DEFAULT_MEMORY_LIMIT_MIB);
  session = createSession((memoryLimitMb) => {
    if (memoryLimitMb === early.memoryLimitMb) return early;
    early.dispose();
    return make(memoryLimitMb);
  }, send);
  const obey = (line: string): void => {
    const body = line.slice(1);
    switch (line[0]) {
      case TO_CHILD.start:
        session.start(JSON.parse(body) as StartOrder);
        break;
      case TO_CHILD.answers:
        session.answers(body);
        break;
      case TO_CHILD.nested:
        session.nested(JSON.parse(body) as NestedOrder);
        break;
      case TO_CHILD.ping:
        send(FROM_CHILD.pong + body);
        break;
      case TO_CHILD.settle:
        session.settle(body);
        break;
      default:
        die();
    }
  };
  // Its standard error goes nowhere, so the parent is told.
  process.on('uncaughtException', (error) => send(FROM_CHILD.broken + error.message.replaceAll('\n', ' ')));
  readLines(0, obey, die);
}

leaveSignalsToParent();
serve(process.argv[2] as string);
