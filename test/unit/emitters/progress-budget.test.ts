import { describe, expect, it } from 'vitest';
import { createProgressBudget, type LineSizes } from '../../../emitters/stream-json/progress-budget.ts';

const sizes = (over: Partial<LineSizes> = {}): LineSizes => ({
  snapshot: 4000,
  changes: 700,
  emptyChanges: 500,
  floor: 4000,
  agentCount: 10,
  stateChangesWaiting: 1,
  stateChangesToCome: 10,
  ...over,
});

describe('the progress budget', () => {
  it('writes snapshots at once while they are cheap, then spreads them (E-14)', () => {
    const budget = createProgressBudget();
    const choices = Array.from({ length: 12 }, () => {
      const choice = budget.choose(sizes());
      if (choice !== 'wait') budget.spend(choice, choice === 'snapshot' ? 4000 : 700, sizes());
      return choice;
    });
    expect(choices.slice(0, 6)).toEqual([...Array(6).fill('snapshot')]);
    expect(choices).toContain('changes');
    expect(choices).not.toContain('wait');
  });

  it('never spends more than eleven times the floor before the last snapshot (E-14)', () => {
    const budget = createProgressBudget();
    let spent = 0;
    for (let line = 0; line < 1000; line++) {
      const choice = budget.choose(sizes());
      if (choice === 'wait') continue;
      const bytes = choice === 'snapshot' ? 4000 : 700;
      budget.spend(choice, bytes, sizes());
      spent += bytes;
    }
    expect(spent).toBeLessThanOrEqual(11 * 4000);
    expect(budget.choose(sizes())).toBe('wait');
    expect(budget.choose(sizes({ floor: 8000 }))).not.toBe('wait');
  });

  it('keeps what state changes to come will need from lines that show none', () => {
    const minor = { stateChangesWaiting: 0 };
    expect(createProgressBudget().choose(sizes({ ...minor, stateChangesToCome: 1 }))).toBe('snapshot');
    expect(createProgressBudget().choose(sizes({ ...minor, stateChangesToCome: 30 }))).toBe('changes');
    expect(createProgressBudget().choose(sizes({ ...minor, stateChangesToCome: 56 }))).toBe('wait');
  });
});
