import { createSlots, failPart, type HelperContext, nameOf, runPart } from './parts.ts';
import { isArray, lengthOf, rejected, whenSettled } from './primordials.ts';
import { type Frame, frameOf, makePart, nextScope } from './scope.ts';

type Thunk = (index: number) => unknown;

/** Makes `parallel(thunks)` of one workflow: starts all, waits for all, keeps their order (S-10). */
export function createParallel(context: HelperContext): (thunks: unknown) => Promise<unknown[]> {
  return {
    parallel(thunks: unknown): Promise<unknown[]> {
      let checked: Thunk[];
      try {
        checked = checkThunks(thunks, context);
      } catch (error) {
        return rejected(error);
      }
      return start(context, checked);
    },
  }.parallel;
}

function start(context: HelperContext, thunks: readonly Thunk[]): Promise<unknown[]> {
  const parent = frameOf(context.workflow);
  const scope = nextScope(parent, 'parallel');
  const asked = context.fanOut.ask('parallel', thunks.length);
  return asked === undefined
    ? runAll(context, thunks, parent, scope)
    : whenSettled(asked, () => runAll(context, thunks, parent, scope));
}

function runAll(context: HelperContext, thunks: readonly Thunk[], parent: Frame, scope: string): Promise<unknown[]> {
  const slots = createSlots(thunks.length);
  for (let index = 0; index < thunks.length; index++) {
    const frame = makePart(parent, `${scope}/item:${index}`);
    runPart(
      frame,
      thunks[index] as Thunk,
      [index],
      (value) => slots.fill(index, value),
      (error) => failPart(context, slots, { helper: 'parallel', index, stage: null, frame }, error),
    );
  }
  return slots.done;
}

/** Copies the thunks, so that an array with getters or a Proxy is asked once. */
function checkThunks(thunks: unknown, context: HelperContext): Thunk[] {
  if (!isArray(thunks)) {
    throw new TypeError(
      `parallel() takes one array of functions, and got ${nameOf(thunks)}. Write parallel([() => agent('…'), () => agent('…')]).`,
    );
  }
  const count = lengthOf(thunks);
  context.fanOut.check('parallel', count);
  const checked: Thunk[] = [];
  for (let index = 0; index < count; index++) {
    const thunk: unknown = thunks[index];
    if (typeof thunk !== 'function') {
      throw new TypeError(
        `parallel() takes functions, and item ${index} is ${nameOf(thunk)}. Wrap each item in a function: () => agent('…').`,
      );
    }
    checked[index] = thunk as Thunk;
  }
  return checked;
}
