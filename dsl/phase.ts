import type { Outbox } from './outbox.ts';
import { apply } from './primordials.ts';
import {
  enterFrame,
  type Frame,
  frameOf,
  makePart,
  nextScope,
  phaseOf,
  restoreFrame,
  setPhase,
  type Workflow,
} from './scope.ts';
import { MAX_PHASE_CHANGES } from './wire.ts';

const TITLE_CHARACTERS = 200;

/**
 * Makes `phase(title, body?)` of one workflow (S-14).
 *
 * Contract:
 * - The title holds in the thunk or stage that sets it, which cannot move its siblings' agents (R-24).
 * - A body runs in a frame of its own, so its phase ends with it.
 * - In a nested workflow agents stay in that workflow's own phase; a body still runs.
 */
export function createPhase(
  workflow: Workflow,
  outbox: Outbox,
  changes: { told: number },
): (title: unknown, body?: unknown) => unknown {
  const enter = (frame: Frame, title: string): void => {
    if (workflow.name !== null) return;
    const before = phaseOf(frame);
    setPhase(frame, title);
    if (title === before || changes.told >= MAX_PHASE_CHANGES) return;
    changes.told++;
    outbox.push(['phase', title, false]);
  };
  return {
    phase(title: unknown, body?: unknown): unknown {
      const text = titleText(title);
      const frame = frameOf(workflow);
      if (body === undefined) {
        enter(frame, text);
        return undefined;
      }
      if (typeof body !== 'function') {
        throw new TypeError(
          `phase() takes a function as its body, and got a ${typeof body}. Write phase('…', async () => { … }).`,
        );
      }
      const inside = makePart(frame, nextScope(frame, 'phase'));
      enter(inside, text);
      const before = enterFrame(inside);
      try {
        return apply(body as () => unknown, undefined, []);
      } finally {
        restoreFrame(before);
      }
    },
  }.phase;
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
