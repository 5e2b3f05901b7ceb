import type { Calls } from './calls.ts';
import { makeLimitError } from './host-errors.ts';
import type { Outbox } from './outbox.ts';
import { nameOf } from './parts.ts';
import { rejected, stringifyJson } from './primordials.ts';
import { countWorkflow, type Frame, frameOf, type Workflow } from './scope.ts';
import type { WorkflowRef } from './wire.ts';

/** Who called a nested workflow, and from where; kept until the host has found it. */
export interface NestedCall {
  readonly caller: Workflow;
  readonly frame: Frame;
  /** Calls of the same workflow in this frame before. */
  readonly count: number;
}

/**
 * Makes `workflow(nameOrRef, args?)` of one workflow (S-18).
 *
 * Replay: the nested workflow runs again on resume; its agents are recorded one by one.
 */
export function createWorkflow(
  caller: Workflow,
  calls: Calls,
  outbox: Outbox,
  nested: Map<number, NestedCall>,
  maxDepth: number,
): (ref: unknown, args?: unknown) => Promise<unknown> {
  return {
    workflow(ref: unknown, args?: unknown): Promise<unknown> {
      let wanted: WorkflowRef;
      let argsJson: string | undefined;
      try {
        wanted = readRef(ref);
        argsJson = stringifyJson(args);
        checkDepth(caller.depth + 1, maxDepth);
      } catch (error) {
        return rejected(error);
      }
      const frame = frameOf(caller);
      const count = countWorkflow(frame, 'name' in wanted ? wanted.name : `./${wanted.scriptPath}`);
      return calls.open((id) => {
        nested.set(id, { caller, frame, count });
        outbox.push(['workflow', id, wanted, argsJson ?? null, caller.depth + 1, caller.fileName]);
      });
    },
  }.workflow;
}

function readRef(ref: unknown): WorkflowRef {
  if (typeof ref === 'string' && ref.trim() !== '') return { name: ref.toWellFormed() };
  const path: unknown =
    typeof ref === 'object' && ref !== null ? (ref as { scriptPath?: unknown }).scriptPath : undefined;
  if (typeof path === 'string' && path.trim() !== '') return { scriptPath: path.toWellFormed() };
  throw new TypeError(
    `workflow() takes the name of a saved workflow or { scriptPath: '…' }, and got ${nameOf(ref)}. Write workflow('name', args).`,
  );
}

function checkDepth(depth: number, maxDepth: number): void {
  if (depth <= maxDepth) return;
  throw makeLimitError(
    'LIMIT_DEPTH',
    `workflow() calls may be nested ${maxDepth} deep, and this one would be ${depth} deep. Raise --max-depth, or call it from the script itself.`,
    false,
  );
}
