import type { KillTrial } from './kill-trial.ts';

/** What came of many trials. The zeros are what ask for. */
export interface KillTotals {
  readonly runs: number;
  readonly killed: Readonly<Record<string, number>>;
  readonly tornTails: number;
  readonly zeros: {
    readonly lost: number;
    readonly doubled: number;
    readonly again: number;
    readonly wrongOwners: number;
    readonly stopped: number;
    readonly faults: number;
    readonly notInterrupted: number;
  };
  /** Of calls that share their prompt with others. */
  readonly wrongSharedOwners: number;
}

export function totalsOf(trials: readonly KillTrial[]): KillTotals {
  const sum = (count: (trial: KillTrial) => number): number => trials.reduce((total, trial) => total + count(trial), 0);
  const whom = [...new Set(trials.flatMap(({ killed }) => Object.keys(killed)))].sort();
  return {
    runs: trials.length,
    killed: Object.fromEntries(whom.map((name) => [name, sum(({ killed }) => killed[name] ?? 0)])),
    tornTails: sum(({ tornTails }) => tornTails),
    zeros: {
      lost: sum(({ findings }) => findings.lost.length),
      doubled: sum(({ findings }) => findings.doubled.length),
      again: sum(({ findings }) => findings.again.length),
      wrongOwners: sum(({ findings }) => findings.wrongOwners.length),
      stopped: sum(({ stopped }) => stopped.length),
      faults: sum(({ findings }) => findings.faults.length),
      notInterrupted: sum(({ notInterrupted }) => notInterrupted),
    },
    wrongSharedOwners: sum(({ findings }) => findings.wrongSharedOwners.length),
  };
}

/** What went wrong in one trial, a line each; empty when nothing did. */
export function troublesOf({ seed, plan, findings, stopped, notInterrupted }: KillTrial): string[] {
  const all = Object.entries(findings).flatMap(([what, places]) => places.map((place: string) => `${what}: ${place}`));
  const more = notInterrupted > 0 ? ['a killed run did not show as interrupted'] : [];
  return [...all, ...stopped, ...more].map((text) => `seed ${seed} (${plan.shape}): ${text}`);
}
