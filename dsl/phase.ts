import type { Outbox } from './outbox.ts';
import { resolved, whenSettled } from './primordials.ts';
import { phaseOf, type Workflow } from './scope.ts';
import { MAX_PHASE_CHANGES } from './wire.ts';

const TITLE_CHARACTERS = 200;

/**
 * Makes `phase(title, body?)` of one workflow (S-14).
 *
 * Contract:
 * - The title holds in the frame that sets it: a thunk or a stage cannot move its siblings' agents.
 * - In a nested workflow agents stay in that workflow's own phase; a body still runs.
 */
export function createPhase(
  workflow: Workflow,
  outbox: Outbox,
  changes: { told: number },
): (title: unknown, body?: unknown) => unknown {
  const enter = (title: string): void => {
    if (workflow.name !== null) return;
    const before = phaseOf(workflow.current);
    workflow.current.ownPhase = title;
    if (title === before || changes.told >= MAX_PHASE_CHANGES) return;
    changes.told++;
    outbox.push(['phase', title, false]);
  };
  return {
    phase(title: unknown, body?: unknown): unknown {
      const text = titleText(title);
      if (body === undefined) {
        enter(text);
        return undefined;
      }
      if (typeof body !== 'function') {
        throw new TypeError(
          `phase() takes a function as its body, and got a ${typeof body}. Write phase('…', async () => { … }).`,
        );
      }
      return runBody(workflow, body as () => unknown, () => enter(text));
    },
  }.phase;
}

function runBody(workflow: Workflow, body: () => unknown, enter: () => void): unknown {
  const frame = workflow.current;
  const before = frame.ownPhase;
  enter();
  const restore = (): void => {
    frame.ownPhase = before;
  };
  let value: unknown;
  try {
    value = body();
  } catch (error) {
    restore();
    throw error;
  }
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    restore();
    return value;
  }
  return whenSettled(
    resolved(value),
    (settled) => {
      restore();
      return settled;
    },
    (error) => {
      restore();
      throw error;
    },
  );
}

function titleText(title: unknown): string {
  if (typeof title !== 'string' && typeof title !== 'number') {
    throw new TypeError(
      `phase() takes a title as text, and got ${title === null ? 'null' : typeof title}. Write phase('…').`,
    );
  }
  const text = String(title).trim().toWellFormed();
  if (text === '') throw new TypeError("phase() takes a title, and got a blank one. Write phase('…').");
  return text.length <= TITLE_CHARACTERS ? text : `${text.slice(0, TITLE_CHARACTERS)}…`.toWellFormed();
}
