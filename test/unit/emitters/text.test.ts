import { describe, expect, it } from 'vitest';
import { renderResult } from '../../../emitters/render-result.ts';
import { fitColumns, toTerminalText } from '../../../emitters/text/terminal-text.ts';
import { createTextEmitter, type TextEmitterOptions } from '../../../emitters/text.ts';
import { createFakeClock, createSampleLog, type SampleLog } from './sample-log.ts';

function show(log: SampleLog, over: Partial<TextEmitterOptions> = {}): string {
  let text = '';
  const emitter = createTextEmitter({
    write: (part) => {
      text += part;
    },
    isTty: false,
    width: () => 80,
    color: false,
    quiet: false,
    ...over,
  });
  for (const event of log.events) emitter.handle(event);
  return text;
}

const died = (log: SampleLog, index: number) =>
  log.end(index, { state: 'error', error: { code: 'AGENT_API', message: '400' } });

describe('the text face', () => {
  it('says loudly that agents are simulated, with --quiet too (A-24, C-11)', () => {
    const log = createSampleLog().start({ simulated: true }).queue(1).begin(1).end(1).finish();
    for (const quiet of [false, true]) {
      expect(show(log, { quiet })).toMatch(/^SIMULATED: .*ANTHROPIC_API_KEY/m);
    }
    expect(show(log, { quiet: true })).not.toContain('agent-1');
  });

  it('begins the end with the death of all agents (A-19)', () => {
    const log = createSampleLog().start().queue(1).begin(1).queue(2).begin(2);
    died(died(log, 1), 2).finish();
    expect(show(log, { quiet: true }).split('\n')[0]).toBe(
      'No agent gave an answer: all 2 agents failed. To have such a run fail: --fail-on-agent-error.',
    );
  });

  it('shows counts instead of a thousand agents, and the first failures (E-17)', () => {
    const log = createSampleLog().start();
    for (let index = 1; index <= 1000; index++) log.queue(index);
    for (let index = 1; index <= 1000; index++) {
      log.at(index * 10).begin(index);
      if (index % 2 === 0) died(log, index);
      else log.end(index);
    }
    const lines = show(log.finish()).split('\n');
    expect(lines.length).toBeLessThan(50);
    expect(lines).toContain('  1000 of 1000 agents ended, 500 of them failed');
  });

  it('names the phase of an agent that is not the one above (E-17)', () => {
    const log = createSampleLog()
      .start()
      .add('phase.started', { index: 1, title: 'Left' })
      .add('phase.started', { index: 2, title: 'Right' })
      .queue(1, { phase: [1, 'Left'] })
      .begin(1)
      .queue(2, { phase: [2, 'Right'] })
      .begin(2);
    expect(show(log)).toContain('  ▶ agent-1 [Left]\n  ▶ agent-2\n');
  });

  it('cuts lines to the terminal, though not what a person must copy (E-17)', () => {
    const log = createSampleLog()
      .start()
      .queue(1, { label: '界'.repeat(60) })
      .begin(1);
    died(log, 1).finish({ resume: `wf resume wf_00000001-abc --state-dir ${'/long'.repeat(30)}` });
    const lines = show(log, { isTty: true, width: () => 40 }).split('\n');
    expect(lines.find((line) => line.includes('界'))).toBe(`  ▶ ${'界'.repeat(17)}…`);
    expect(lines.find((line) => line.includes('resume:'))).toContain('/long'.repeat(30));
  });

  it('never cuts why an agent failed, what the script says, and where the output is (E-17)', () => {
    const log = createSampleLog().start().queue(1).begin(1);
    log.end(1, { state: 'error', error: { code: 'AGENT_API', message: 'the reason '.repeat(9).trim() } });
    log.add('log', { level: 'info', text: `said ${'x'.repeat(90)} to the end` });
    log.finish({ outputFile: `${'/long'.repeat(30)}/output.json` });
    const text = show(log, { isTty: true, width: () => 40 });
    expect(text).toContain('the reason [AGENT_API]\n');
    expect(text).toContain('x to the end\n');
    expect(text).toContain('/long/output.json\n');
  });

  it('says each failure once, though the log repeats it (E-17)', () => {
    const log = createSampleLog().start();
    for (const index of [1, 2]) {
      log.queue(index, { label: 'same' }).begin(index);
      died(log, index).add('log', { level: 'error', text: 'Agent "same" failed: 400 [AGENT_API]' });
    }
    log.add('log', { level: 'error', text: 'Agent "same" failed: 400 [AGENT_API]' });
    const text = show(log.finish());
    expect(text.match(/✗ same/g)).toHaveLength(2);
    expect(text.match(/error: Agent "same" failed/g), 'what a script says itself stays').toHaveLength(1);
  });

  it.each([
    ['TypeError: x at flow.js:3:18', '  TypeError: x at flow.js:3:18 [SCRIPT_THREW]'],
    ['Error: x', '  Error: x (line 3, column 18) [SCRIPT_THREW]'],
  ])('says the place of %j once (S-30)', (message, line) => {
    const error = { code: 'SCRIPT_THREW', message, line: 3, column: 18 };
    expect(show(createSampleLog().start().finish({ status: 'failed', error })).split('\n')).toContain(line);
  });

  it('uses colours only when told to (E-17)', () => {
    const log = createSampleLog().start().finish();
    const ESCAPE = String.fromCharCode(0x1b);
    expect(show(log, { color: true })).toContain(`${ESCAPE}[1m`);
    expect(show(log)).not.toContain(ESCAPE);
  });

  it('says that a silent run is alive, and stops at its end', () => {
    const clock = createFakeClock();
    const log = createSampleLog().start().queue(1).begin(1);
    const written: string[] = [];
    const write = (part: string) => void written.push(part);
    const emitter = createTextEmitter({ write, isTty: false, width: () => 80, color: false, quiet: false, clock });
    for (const event of log.events) emitter.handle(event);
    clock.moveTo(125_000);
    expect(written.slice(-2)).toEqual(['  … 1 agent runs, after 1 min 00 s\n', '  … 1 agent runs, after 2 min 00 s\n']);
    for (const event of log.at(125_000).end(1).finish().events.slice(3)) emitter.handle(event);
    const lines = written.length;
    clock.moveTo(900_000);
    expect(written).toHaveLength(lines);
  });
});

describe('terminal text', () => {
  it('loses sequences, controls and marks that reorder, and keeps lines (E-17)', () => {
    const ESCAPE = String.fromCharCode(0x1b);
    expect(toTerminalText(`a${ESCAPE}[2Jb\n\tc\u202ed\u0007\u009b`)).toBe('ab\n\tcd');
  });

  it('counts wide characters twice and combining ones not at all', () => {
    expect(fitColumns('界界界', 6)).toBe('界界界');
    expect(fitColumns('界界界界', 6)).toBe('界界…');
    expect(fitColumns('e\u0301'.repeat(6), 6)).toBe('e\u0301'.repeat(6));
  });
});

describe('the result in text mode', () => {
  it('is a string as it is, and anything else as JSON (C-6)', () => {
    const completed = { status: 'completed' } as const;
    expect(renderResult(completed, '"two\\nlines"')).toBe('two\nlines\n');
    expect(renderResult(completed, '"ends\\n"')).toBe('ends\n');
    expect(renderResult(completed, '{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}\n');
    expect(renderResult(completed, undefined)).toBe('');
    expect(renderResult({ status: 'failed' }, '1')).toBe('');
  });
});
