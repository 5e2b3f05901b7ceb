import type { HostState, PendingStep } from './mcp-server.ts';

/** What the connected agent hands in. */
export interface HandedIn {
  readonly status: 'success' | 'failed' | 'skipped';
  readonly output?: unknown;
  readonly summary?: string;
}

/**
 * A connected agent that knows what it does: it works on a step of the tournament of `examples/08`, and errs on every fifth
 * step before it gets it right.
 */
export class ConnectedAgent {
  /** Every step that it was asked, as often as it was asked for it anew. */
  readonly asked: string[] = [];
  /** Answers that it handed in wrong on purpose. */
  errors = 0;
  readonly #erred = new Set<string>();

  answer(step: PendingStep): HandedIn {
    if (step.attempt === 1) this.asked.push(step.name);
    if (this.asked.length % 5 === 0 && !this.#erred.has(step.stepId) && step.outputSchema !== undefined) {
      this.#erred.add(step.stepId);
      this.errors += 1;
      return { status: 'success', output: { title: 'x', score: 'eleven' } };
    }
    return { status: 'success', output: outputOf(step) };
  }
}

function outputOf({ instruction, outputSchema, name }: PendingStep): unknown {
  if (outputSchema === undefined) return `The winner is a game: ${instruction.length} characters of it.`;
  const { properties } = outputSchema as { properties: Record<string, unknown> };
  if (Object.hasOwn(properties, 'score')) return { score: 1 + (name.length % 10), reason: `It suits ${name}.` };
  return { title: `The game of ${name}`, pitch: 'Players race each other to the lamp and back.', players: 4 };
}

/** Does steps one after another until none waits or `steps` were handed in. */
export async function work(
  agent: ConnectedAgent,
  state: HostState,
  hand: (step: PendingStep, result: HandedIn) => Promise<HostState>,
  steps = Number.POSITIVE_INFINITY,
): Promise<HostState> {
  let now = state;
  for (let done = 0; done < steps; done += 1) {
    const [step] = now.pending;
    if (step === undefined) return now;
    now = await hand(step, agent.answer(step));
  }
  return now;
}
