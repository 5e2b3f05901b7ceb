/**
 * A place in the structure of a script: the script itself, one thunk of a `parallel`, one stage of an item of a
 * `pipeline`. Frames form a tree; `current` of a workflow says in which one it is acting.
 *
 * A frame is current while its function runs, up to the first `await`; afterwards the workflow is back in its root.
 */
export interface Frame {
  /** Path like `/pipeline:0/item:7/stage:1`; '' for the script itself. */
  readonly scope: string;
  readonly parent: Frame | null;
  /** Set by `phase()` in this frame; undefined when it takes its parent's. */
  ownPhase: string | undefined;
  /** How many `parallel` and `pipeline` calls were made here, which numbers the next. */
  parallels: number;
  pipelines: number;
  /** How often each nested workflow was called here; made when the first is. */
  children: Map<string, number> | undefined;
}

/** One workflow under way: the script, or a nested one. Its functions act for it whoever calls them. */
export interface Workflow {
  /** Null for the script itself. */
  readonly name: string | null;
  /** 0 for the script itself. */
  readonly depth: number;
  readonly fileName: string;
  readonly root: Frame;
  current: Frame;
}

export function makeFrame(scope: string, parent: Frame | null): Frame {
  return { scope, parent, ownPhase: undefined, parallels: 0, pipelines: 0, children: undefined };
}

export function makeWorkflow(name: string | null, depth: number, fileName: string, scope: string): Workflow {
  const root = makeFrame(scope, null);
  return { name, depth, fileName, root, current: root };
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

/** Scope of a nested workflow called in `frame`; further calls of the same name are numbered. */
export function childScope(frame: Frame, name: string): string {
  frame.children ??= new Map();
  const before = frame.children.get(name) ?? 0;
  frame.children.set(name, before + 1);
  const scope = `${frame.scope}/workflow:${name.replaceAll('/', '_')}`;
  return before === 0 ? scope : `${scope}:${before}`;
}
