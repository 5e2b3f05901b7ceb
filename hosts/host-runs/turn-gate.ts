import type { CallPolicy, PolicyDecision } from '../../runtime/calls/call-policy.ts';

export interface TurnGateOptions {
  /** Steps that may wait for the connected agent at one time. */
  readonly maxPending: number;
  readonly onChange: () => void;
}

interface WaitingCall {
  readonly key: string;
  readonly go: (decision: PolicyDecision) => void;
}

/**
 * Lets calls become steps in call order, as many at a time as are wanted (H-15). A call waits here, and not for a slot, so
 * that its own time limit begins with the step.
 */
export class TurnGate {
  readonly #options: TurnGateOptions;
  #waiting: WaitingCall[] = [];
  #inHand = 0;
  #held = false;

  constructor(options: TurnGateOptions) {
    this.#options = options;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** To be given to the run. */
  readonly policy: CallPolicy = ({ key }) =>
    new Promise((go) => {
      this.#waiting.push({ key, go });
      this.#options.onChange();
      this.#admit();
    });

  /** Lets nothing through until {@link open}: before a replayed script has come to rest, not all that wait are known. */
  hold(): void {
    this.#held = true;
  }

  /** @param first keys that go before all others, in this order: steps that an earlier server had handed out (H-16) */
  open(first: readonly string[]): void {
    this.#held = false;
    const place = new Map(first.map((key, index) => [key, index]));
    const placeOf = ({ key }: WaitingCall): number => place.get(key) ?? place.size;
    this.#waiting.sort((a, b) => placeOf(a) - placeOf(b));
    this.#admit();
  }

  /** A call that was let through has ended. */
  left(): void {
    this.#inHand -= 1;
    this.#admit();
  }

  #admit(): void {
    while (!this.#held && this.#inHand < this.#options.maxPending) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#inHand += 1;
      next.go({ action: 'allow' });
      this.#options.onChange();
    }
  }
}
