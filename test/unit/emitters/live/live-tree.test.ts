import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createLiveTree } from '../../../../emitters/live/live-tree.ts';
import { createTreeView } from '../../../../emitters/live/tree-view.ts';
import type { CoreEvent } from '../../../../protocol/core-event.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const START_MS = 1_000_000;

function event(type: string, data: object, at = START_MS): CoreEvent {
  return { seq: 1, at, type, data } as unknown as CoreEvent;
}
const workflow = { name: 'w', description: 'd', phases: [{ title: 'Find' }, { title: 'Rank' }] };
const started = event('run.started', { workflow, launch: 1 });
const queued = (key: string, label = key) => event('agent.queued', { key, label, phaseTitle: 'Find' });
const begun = (key: string, at = START_MS) => event('agent.started', { key, attempt: 1 }, at);
const usage = { inputTokens: 5, outputTokens: 7, toolUses: 0, attempt: 1, attempts: 0, durationMs: 1 };
const finished = (key: string, state = 'done') => event('agent.finished', { key, state, ...usage });

function textsOf(events: readonly CoreEvent[], nowMs: number, maxLines: number): string[] {
  const view = createTreeView();
  for (const one of events) view.apply(one);
  return view.lines(nowMs, maxLines).map(({ text }) => text);
}

/** A terminal that keeps what is written to it. */
function fakeTerminal() {
  const writes: string[] = [];
  return { writes, write: (text: string) => void writes.push(text), columns: 40, rows: 10 };
}

describe('the tree of a run', () => {
  it('counts the agents of each phase, names those at work with their time, and ends with a bar (E-17)', () => {
    const events = [started, queued('a'), queued('b', 'b \u001b[2J'), queued('c'), queued('d')];
    events.push(begun('a'), begun('b', START_MS + 2000), begun('c'), finished('a'), finished('c', 'error'));
    expect(textsOf(events, START_MS + 5500, 9)).toEqual([
      '  ▸ Find: 1 done, 1 failed, 1 at work, 1 waiting',
      '    ▶ 3 s  b ',
      '  ▸ Rank',
      '  ██████████░░░░░░░░░░ 2 of 4 agents, 1 failed, 24 tokens, 5 s',
    ]);
  });

  it('names an agent of a phase that has room for one line, and never counts more than none (E-17)', () => {
    const events = [started, ...['a', 'b', 'c'].flatMap((key) => [queued(key), begun(key)])];
    expect(textsOf(events, START_MS, 4).slice(0, 3)).toEqual(['  ▸ Find: 3 at work', '    ▶ 0 s  a', '  ▸ Rank']);
    expect(textsOf(events, START_MS, 5)[2]).toBe('    … and 2 more at work');
  });

  it.each([2, 3, 5, 12])('keeps to %i lines with a hundred agents at work in many phases (E-17)', (most) => {
    const names = Array.from({ length: 100 }, (_, i) => `agent ${i}`);
    const elsewhere = names.map((key, i) => event('agent.queued', { key, label: key, phaseTitle: `P${i % 9}` }));
    const texts = textsOf([started, ...elsewhere, ...names.map((key) => begun(key))], START_MS, most);
    expect(texts.length).toBeLessThanOrEqual(most);
    expect(texts.at(-1)).toContain('0 of 100 agents');
  });
});

describe('the tree on a terminal', () => {
  it('is drawn ten times a second at most, within the width, and once a second while agents work (E-17, E-3)', async () => {
    const clock = new FakeClock(START_MS);
    const terminal = fakeTerminal();
    const tree = createLiveTree({ terminal, clock, color: false });
    for (const one of [started, queued('a', 'x'.repeat(60)), begun('a')]) tree.handle(one);
    await clock.advance(0);
    expect(terminal.writes).toHaveLength(1);
    for (let i = 0; i < 50; i++) tree.handle(queued(`more ${i}`));
    await clock.advance(99);
    expect(terminal.writes).toHaveLength(1);
    await clock.advance(1);
    expect(terminal.writes).toHaveLength(2);
    await clock.advance(3000);
    expect(terminal.writes).toHaveLength(5);
    const lines = terminal.writes.flatMap((text) => stripVTControlCharacters(text).split('\n'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
  });

  it('puts lines above itself, and leaves the screen at the end of the run with nothing pending (E-17)', async () => {
    const clock = new FakeClock(START_MS);
    const terminal = fakeTerminal();
    const tree = createLiveTree({ terminal, clock, color: false });
    for (const one of [started, queued('a'), begun('a')]) tree.handle(one);
    await clock.advance(0);
    tree.above('a note\n');
    await clock.advance(100);
    expect(stripVTControlCharacters(terminal.writes.at(-1) ?? '')).toMatch(/^a note\n {2}▸ Find: 1 at work/);
    tree.above('the last line\n');
    tree.handle(event('run.finished', { status: 'completed' }));
    expect(stripVTControlCharacters(terminal.writes.at(-1) ?? '')).toBe('the last line\n');
    expect(clock.pending).toBe(0);
    tree.above('later\n');
    expect(terminal.writes.at(-1)).toBe('later\n');
    expect(terminal.writes.join('')).not.toContain('\u001b[?25l');
  });
});
