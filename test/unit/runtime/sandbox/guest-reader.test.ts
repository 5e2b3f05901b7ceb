import { describe, expect, it } from 'vitest';
import { createGuestReader } from '../../../../runtime/sandbox/guest-reader.ts';
import type { SandboxEnd, SandboxHandlers } from '../../../../runtime/sandbox/sandbox.ts';

const OPTIONS = { memoryLimitMb: 64, cpuLimitMs: 500, maxItems: 10, budgetTotal: null, maxDepth: 1 };

function read(lines: readonly string[]): { end: SandboxEnd | undefined; told: unknown[]; ready: number } {
  const told: unknown[] = [];
  const seen: { end: SandboxEnd | undefined; ready: number } = { end: undefined, ready: 0 };
  const handlers: SandboxHandlers = {
    agent: (call) => told.push(call),
    workflow: (call) => told.push(call),
    phase: (...values) => told.push(values),
    log: (...values) => told.push(values),
    partFailed: (part) => told.push(part),
  };
  const reader = createGuestReader(OPTIONS, handlers, {
    ready: () => {
      seen.ready++;
    },
    end: (end) => {
      expect(seen.end).toBeUndefined();
      seen.end = end;
    },
  });
  for (const line of lines) reader.line(line);
  return { ...seen, told };
}

const guest = (...messages: unknown[]): string => `G${JSON.stringify(messages)}`;
const AGENT = ['agent', 1, 'p', null, '', null, null];

describe('what an honest guest sends', () => {
  it('reaches the handlers as it is', () => {
    const { told, end, ready } = read([
      'R',
      guest(
        AGENT,
        ['agent', 2, 'q', '{"a":1}', '/parallel:0/item:1', 'P', 'kid'],
        ['phase', 'T', false],
        ['phase', '▸ k', true],
      ),
      guest(['workflow', 3, { scriptPath: 'x.js' }, '[1]', 1, 's.js'], ['log', 'warn', 'text']),
      guest([
        'part',
        'pipeline',
        4,
        1,
        '/pipeline:0/item:4/stage:1',
        { name: 'Error', message: 'm', line: 3, cause: { name: 'string', message: 'c' } },
      ]),
      guest(['returned', '{"a":1}', ['w']]),
    ]);
    expect(ready).toBe(1);
    expect(told).toEqual([
      { id: 1, prompt: 'p', optsJson: undefined, scope: '', phase: null, workflow: null },
      { id: 2, prompt: 'q', optsJson: '{"a":1}', scope: '/parallel:0/item:1', phase: 'P', workflow: 'kid' },
      ['T'],
      ['▸ k', 'child'],
      { id: 3, ref: { scriptPath: 'x.js' }, argsJson: '[1]', depth: 1, callerFile: 's.js' },
      ['warn', 'text'],
      {
        ...{ helper: 'pipeline', index: 4, stage: 1, scope: '/pipeline:0/item:4/stage:1' },
        error: { name: 'Error', message: 'm', line: 3, cause: { name: 'string', message: 'c' } },
      },
    ]);
    expect(end).toEqual({ type: 'returned', valueJson: '{"a":1}', warnings: ['w'] });
  });

  it('ends it in each way there is', () => {
    expect(read([guest(['returned', null, []])]).end).toEqual({ type: 'returned', valueJson: undefined, warnings: [] });
    expect(read([guest(['threw', { name: 'E', message: 'm' }])]).end).toEqual({
      type: 'threw',
      error: { name: 'E', message: 'm' },
    });
    expect(read([guest(['not-json', 'a.b', 'a BigInt'])]).end).toEqual({
      type: 'not-json',
      path: 'a.b',
      what: 'a BigInt',
    });
    expect(read(['D']).end).toEqual({ type: 'deadlock' });
    expect(read(['L{"code":"LIMIT_CPU"}']).end).toMatchObject({ type: 'limit', code: 'LIMIT_CPU' });
    expect(read(['L{"code":"LIMIT_MEMORY"}']).end).toMatchObject({ type: 'limit', code: 'LIMIT_MEMORY' });
    const buffers = { name: 'RangeError', message: 'Array buffer allocation failed' };
    expect(read([guest(['threw', buffers])]).end).toMatchObject({ type: 'limit', code: 'LIMIT_MEMORY' });
  });
});

describe('what a compromised sandbox sends ends it as crashed (S-31)', () => {
  let deep: unknown = { name: 'E', message: 'm' };
  for (let at = 0; at < 20; at++) deep = { name: 'E', message: 'm', cause: deep };
  const HOSTILE: Readonly<Record<string, readonly string[]>> = {
    'an empty line': [''],
    'a line of an unknown kind': ['Zxyz'],
    'a batch that is not JSON': ['G[['],
    'a batch that is an object': ['G{"0":["log","info","x"]}'],
    'a message that is no list': [guest({ type: 'agent' })],
    'a message of an unknown kind': [guest(['answer', 1])],
    'a kind that objects inherit': [guest(['constructor', 1]), guest(['__proto__'])],
    'a kind that is no text': [guest([['agent'], 1])],
    'an id that came before': [guest(AGENT, AGENT)],
    'an id that goes back': [guest(['agent', 5, 'p', null, '', null, null], AGENT)],
    'an id that is no count': [guest(['agent', 1.5, 'p', null, '', null, null])],
    'an id beyond exact integers': [guest(['agent', 2 ** 60, 'p', null, '', null, null])],
    'a prompt that is no text': [guest(['agent', 1, { toString: 'x' }, null, '', null, null])],
    'options that are no text': [guest(['agent', 1, 'p', {}, '', null, null])],
    'a call with one field too many': [guest([...AGENT, 'more'])],
    'a call with one field too few': [guest(AGENT.slice(0, -1))],
    'a title that is too long': [guest(['phase', 'x'.repeat(600_001), false])],
    'a log level that does not exist': [guest(['log', 'fatal', 'x'])],
    'a log line that is too long': [guest(['log', 'info', 'x'.repeat(20_000)])],
    'more log lines than are kept': [guest(...Array.from({ length: 1100 }, () => ['log', 'info', 'x']))],
    'more phases than are told': [guest(...Array.from({ length: 10_001 }, () => ['phase', 'x', false]))],
    'more failures than are told': [
      guest(...Array.from({ length: 10_001 }, () => ['part', 'parallel', 0, null, '', { name: 'E', message: 'm' }])),
    ],
    'a workflow by two names': [guest(['workflow', 1, { name: 'a', scriptPath: 'b' }, null, 1, 'f'])],
    'a workflow by no name': [guest(['workflow', 1, {}, null, 1, 'f'])],
    'an error with members of its own': [guest(['threw', { name: 'E', message: 'm', exitCode: 0 }])],
    'an error without a name': [guest(['threw', { message: 'm' }])],
    'an error with causes without end': [guest(['threw', deep])],
    'a result that is not JSON': [guest(['returned', '{', []])],
    'warnings that are no texts': [guest(['returned', '1', [{}]])],
    'a limit that does not exist': ['L{"code":"LIMIT_TASTE"}'],
    'a limit that is not JSON': ['LIMIT_CPU'],
    'the word of a broken process': ['Xthe reason'],
  };
  for (const [what, lines] of Object.entries(HOSTILE)) {
    it(what, () => {
      const { end } = read(lines);
      expect(end).toMatchObject({ type: 'crashed' });
      expect((end as { message: string }).message.length).toBeLessThan(2000);
    });
  }

  it('and what it sends after its end is not heard', () => {
    const { told, end } = read([guest(['returned', '1', []], AGENT), guest(AGENT), 'D', 'nonsense']);
    expect(told).toEqual([]);
    expect(end).toMatchObject({ type: 'returned' });
  });

  it('and only a call that is open can be closed, once', () => {
    const reader = createGuestReader(
      OPTIONS,
      { agent() {}, workflow() {}, phase() {}, log() {}, partFailed() {} },
      { ready() {}, end() {} },
    );
    reader.line(guest(AGENT));
    expect([reader.close(2), reader.close(1), reader.close(1)]).toEqual([false, true, false]);
  });
});
