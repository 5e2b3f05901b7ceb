/**
 * A place in the structure of a script: the script itself, one thunk of a `parallel`, one stage of an item of a
 * `pipeline`, the body of a `phase`, or a fork: something that goes on by itself beside the code that started it.
 *
 * Contract: the code of one frame runs in one order, whatever finishes when. So what is numbered within a frame has the same
 * number in every run that gets the same answers.
 */
export interface Frame {
  readonly workflow: Workflow;
  readonly parent: Frame | null;
  /** Null for the script itself, a thunk, a stage and the body of a phase. */
  readonly fork: ForkKind | null;
  /** Number of a fork among those of its kind in its parent. */
  readonly index: number;
  /** Path like `/pipeline:0/item:7/stage:1`; of a fork once it was asked for. */
  path: string | undefined;
  /** Set by `phase()` in this frame; undefined when it takes its parent's. */
  ownPhase: string | undefined;
  /** Whether the one fork that may go on in this frame itself is taken; see {@link fork}. */
  continued: boolean;
  /** How many of each were made here, which numbers the next; made when the first is. */
  counts: Counts | undefined;
}

interface Counts {
  parallel: number;
  pipeline: number;
  phase: number;
  call: number;
  then: number;
  timer: number;
  /** Calls of each nested workflow. */
  workflows: Map<string, number> | undefined;
}

/** What a fork is: a call of an async function, a handler of a promise, a callback of a timer. */
export type ForkKind = 'call' | 'then' | 'timer';

/** One workflow under way: the script, or a nested one. Its functions act for it whoever calls them. */
export interface Workflow {
  /** Null for the script itself. */
  readonly name: string | null;
  /** 0 for the script itself. */
  readonly depth: number;
  readonly fileName: string;
  readonly root: Frame;
}

/** Characters of a scope that are kept as they are; the rest of a longer one becomes a number. */
const WHOLE_CHARACTERS = 400;

/**
 * The frame whose code runs now; null while none of a script does.
 *
 * Contract: whoever sets it puts the old one back before giving up control, so each microtask begins with null.
 */
let current: Frame | null = null;

/** The frame in which a function of a workflow is being called. */
export function frameOf(workflow: Workflow): Frame {
  return current !== null && current.workflow === workflow ? current : workflow.root;
}

/** Makes a frame the current one and gives the one before, for {@link restoreFrame}. */
export function enterFrame(frame: Frame | null): Frame | null {
  const before = current;
  current = frame;
  return before;
}

export function restoreFrame(before: Frame | null): void {
  current = before;
}

/**
 * The frame of something that begins in the current one and goes on after it; null while there is none.
 *
 * The first may go on in the current frame itself: once the function that the frame was made for has returned, nothing else
 * acts there. This keeps the scope of `async (item) => …` and of `(item) => review(item)` the stage's own.
 */
export function fork(kind: ForkKind): Frame | null {
  const at = current;
  if (at === null) return null;
  if (!at.continued) {
    at.continued = true;
    return at;
  }
  const frame = makeFrame(at.workflow, at, kind, countIn(at, kind), undefined);
  // A call goes on there itself; a handler or a callback may return at once.
  frame.continued = kind === 'call';
  return frame;
}

/** The scope of the next `parallel`, `pipeline` or `phase` in a frame. */
export function nextScope(frame: Frame, kind: 'parallel' | 'pipeline' | 'phase'): string {
  return shorten(`${scopeOf(frame)}/${kind}:${countIn(frame, kind)}`);
}

function countIn(frame: Frame, kind: Exclude<keyof Counts, 'workflows'>): number {
  frame.counts ??= noCounts();
  return frame.counts[kind]++;
}

/** Counts the calls of one nested workflow in a frame, in the order in which they are made. */
export function countWorkflow(frame: Frame, ref: string): number {
  frame.counts ??= noCounts();
  frame.counts.workflows ??= new Map();
  const before = frame.counts.workflows.get(ref) ?? 0;
  frame.counts.workflows.set(ref, before + 1);
  return before;
}

function noCounts(): Counts {
  // biome-ignore lint/suspicious/noThenProperty: counts are never waited for
  return { parallel: 0, pipeline: 0, phase: 0, call: 0, then: 0, timer: 0, workflows: undefined };
}

/** A frame for a thunk, a stage or the body of a phase. */
export function makePart(parent: Frame, path: string): Frame {
  return makeFrame(parent.workflow, parent, null, 0, path);
}

function makeFrame(
  workflow: Workflow,
  parent: Frame | null,
  kind: ForkKind | null,
  index: number,
  path: string | undefined,
): Frame {
  return {
    workflow,
    parent,
    fork: kind,
    index,
    path,
    ownPhase: undefined,
    continued: false,
    counts: undefined,
  };
}

export function makeWorkflow(name: string | null, depth: number, fileName: string, scope: string): Workflow {
  const workflow: { -readonly [K in keyof Workflow]: Workflow[K] } = { name, depth, fileName, root: null as never };
  workflow.root = makeFrame(workflow, null, null, 0, scope);
  return workflow;
}

/** The scope of the calls made in a frame. A chain of forks may be long, so it is walked without recursion. */
export function scopeOf(frame: Frame): string {
  if (frame.path !== undefined) return frame.path;
  const chain: Frame[] = [];
  let at: Frame | null = frame;
  while (at !== null && at.path === undefined) {
    chain[chain.length] = at;
    at = at.parent;
  }
  let path = at?.path ?? '';
  for (let below = chain.length - 1; below >= 0; below--) {
    const link = chain[below] as Frame;
    path = shorten(`${path}/${link.fork}:${link.index}`);
    link.path = path;
  }
  return path;
}

/** Keeps scopes of deep recursion short: equal for equal paths, and different, as good as surely, for others. */
function shorten(path: string): string {
  if (path.length <= WHOLE_CHARACTERS) return path;
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  const digits = (number: number): string => (number >>> 0).toString(16).padStart(8, '0');
  return `/~${digits(high)}${digits(low)}`;
}

/** The phase that an agent called in this frame joins; null before any. */
export function phaseOf(frame: Frame): string | null {
  let at: Frame | null = frame;
  while (at !== null) {
    if (at.ownPhase !== undefined) return at.ownPhase;
    at = at.parent;
  }
  return null;
}

/** Sets the phase of a frame; one of a fork also holds for what it was started by, up to the next part (S-14, R-24). */
export function setPhase(frame: Frame, title: string): void {
  let at: Frame | null = frame;
  while (at !== null) {
    at.ownPhase = title;
    if (at.fork === null) return;
    at = at.parent;
  }
}

/** Scope of a nested workflow; further calls of the same are numbered. */
export function childScope(frame: Frame, name: string, count: number): string {
  const scope = `${scopeOf(frame)}/workflow:${name.replaceAll('/', '_')}`;
  return shorten(count === 0 ? scope : `${scope}:${count}`);
}
