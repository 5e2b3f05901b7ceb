import { createSlots, failPart, type HelperContext, nameOf, runPart, type Slots } from './parts.ts';
import { isArray, lengthOf, makePromise, rejected, whenSettled } from './primordials.ts';
import { type Frame, frameOf, makePart, nextScope } from './scope.ts';

type Stage = (previous: unknown, item: unknown, index: number) => unknown;

interface Line {
  readonly context: HelperContext;
  readonly items: readonly unknown[];
  readonly stages: readonly Stage[];
  readonly slots: Slots;
  readonly parent: Frame;
  readonly scope: string;
}

/** Makes `pipeline(items, ...stages)` of one workflow: each item goes through all stages on its own (S-11). */
export function createPipeline(context: HelperContext): (items: unknown, ...stages: unknown[]) => Promise<unknown[]> {
  return {
    pipeline(items: unknown, ...stages: unknown[]): Promise<unknown[]> {
      let checked: Stage[];
      let copied: unknown[];
      try {
        copied = checkItems(items, context);
        checked = checkStages(stages);
      } catch (error) {
        return rejected(error);
      }
      return start(context, copied, checked);
    },
  }.pipeline;
}

function start(context: HelperContext, items: readonly unknown[], stages: readonly Stage[]): Promise<unknown[]> {
  const parent = frameOf(context.workflow);
  const scope = nextScope(parent, 'pipeline');
  const line: Line = { context, items, stages, slots: createSlots(items.length), parent, scope };
  const asked = context.fanOut.ask('pipeline', items.length * stages.length);
  return asked === undefined ? runAll(line) : whenSettled(asked, () => runAll(line));
}

function runAll(line: Line): Promise<unknown[]> {
  for (let index = 0; index < line.items.length; index++) runStage(line, index, 0, line.items[index]);
  return line.slots.done;
}

function runStage(line: Line, index: number, stage: number, previous: unknown): void {
  if (stage === line.stages.length) {
    line.slots.fill(index, previous);
    return;
  }
  const frame = makePart(line.parent, `${line.scope}/item:${index}/stage:${stage}`);
  const next = (value: unknown): void => {
    if (value === null) line.slots.fill(index, null);
    else runStage(line, index, stage + 1, value);
  };
  const failed = (error: unknown): void =>
    failPart(line.context, line.slots, { helper: 'pipeline', index, stage, frame }, error);
  runPart(
    frame,
    line.stages[stage] as Stage,
    [previous, line.items[index], index],
    stage + 1 < line.stages.length ? later(next) : next,
    failed,
  );
}

/** A stage's plain value reaches the next stage as an awaited one does, after the other items' stages have started. */
function later(next: (value: unknown) => void): (value: unknown) => void {
  return (value) => {
    const turn = makePromise<unknown>((resolve) => resolve(undefined));
    void whenSettled(turn, () => next(value));
  };
}

function checkItems(items: unknown, context: HelperContext): unknown[] {
  if (!isArray(items)) {
    throw new TypeError(
      `pipeline() takes an array of items first, and got ${nameOf(items)}. Write pipeline([…], (previous, item, index) => …).`,
    );
  }
  const count = lengthOf(items);
  context.fanOut.check('pipeline', count);
  const copied: unknown[] = [];
  for (let index = 0; index < count; index++) copied[index] = items[index];
  return copied;
}

function checkStages(given: readonly unknown[]): Stage[] {
  const stages: readonly unknown[] = given.length === 1 && isArray(given[0]) ? given[0] : given;
  const checked: Stage[] = [];
  for (let at = 0; at < stages.length; at++) {
    const stage = stages[at];
    if (typeof stage !== 'function') {
      throw new TypeError(
        `pipeline() takes functions after the items, and stage ${at} is ${nameOf(stage)}. Write (previous, item, index) => agent('…').`,
      );
    }
    checked[at] = stage as Stage;
  }
  return checked;
}
