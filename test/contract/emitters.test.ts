import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createStreamJsonEmitter } from '../../emitters/stream-json.ts';
import { createTextEmitter } from '../../emitters/text.ts';
import type { CoreEvent } from '../../protocol/core-event.ts';
import type { EventSink } from '../../runtime/ports.ts';
import { createSampleLog, sampleKey } from '../unit/emitters/sample-log.ts';

interface Face {
  readonly name: string;
  create(write: (text: string) => void): EventSink;
}

const streamJson = (dialect: 'claude' | 'cbc'): Face => ({
  name: `stream-json ${dialect}`,
  create: (write) =>
    createStreamJsonEmitter({ dialect, taskId: 'task-1', sessionId: 'session-1', includeSource: true, write }),
});

const text = (isTty: boolean, quiet: boolean): Face => ({
  name: `text${isTty ? ' on a terminal' : ''}${quiet ? ' quiet' : ''}`,
  create: (write) => createTextEmitter({ write, isTty, width: () => 60, color: false, quiet }),
});

const faces: readonly Face[] = [
  streamJson('claude'),
  streamJson('cbc'),
  text(false, false),
  text(true, false),
  text(false, true),
];

const logs = fileURLToPath(new URL('../golden/logs/', import.meta.url));
const readLogs = (): CoreEvent[][] =>
  readdirSync(logs).map((file) =>
    readFileSync(logs + file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as CoreEvent),
  );

function show(face: Face, events: readonly CoreEvent[]): string[] {
  const written: string[] = [];
  const sink = face.create((part) => void written.push(part));
  for (const event of events) sink.handle(event);
  return written;
}

const ESCAPE = String.fromCharCode(0x1b);
const nasty = `${ESCAPE}[2J${ESCAPE}]0;title${String.fromCharCode(7)} a\r\nb \u202e ${String.fromCharCode(0x9b)}31m \ud800`;

function nastyLog(): readonly CoreEvent[] {
  return createSampleLog()
    .start({ workflow: { name: nasty, description: nasty, phases: [{ title: nasty }] }, model: nasty })
    .add('phase.started', { index: 2, title: `more ${nasty}` })
    .queue(1, { label: nasty, prompt: nasty, phase: [1, nasty] })
    .begin(1)
    .active(1)
    .at(200)
    .add('agent.tool', { key: sampleKey(1), toolUseId: 't', name: nasty, status: 'completed', summary: nasty })
    .add('log', { level: 'info', text: nasty })
    .add('agent.retrying', {
      key: sampleKey(1),
      attempt: 1,
      delayMs: 5,
      reason: { code: 'AGENT_API', message: nasty },
      concurrency: 1,
    })
    .at(2000)
    .end(1, { state: 'error', error: { code: 'AGENT_API', message: nasty } })
    .add('part.failed', { helper: 'parallel', index: 0, scope: '', error: { code: 'SCRIPT_THREW', message: nasty } })
    .add('limit', { code: 'LIMIT_ITEMS', message: nasty })
    .finish({ status: 'failed', error: { code: 'SCRIPT_THREW', message: nasty } }).events;
}

describe.each(faces)('the face $name', (face) => {
  it('is a pure function of the log (E-2)', () => {
    for (const log of readLogs()) {
      const shown = show(face, log);
      expect(shown.length).toBeGreaterThan(0);
      expect(show(face, log)).toEqual(shown);
    }
  });

  it('ignores types that it does not know, and agents that were never queued (E-12)', () => {
    const [log] = readLogs();
    const strange = [
      { seq: 1, at: 1_700_000_000_001, type: 'agent.dreaming', data: { key: 'v1:x' } } as unknown as CoreEvent,
      ...createSampleLog().at(1).begin(99).active(99).end(99).events,
    ];
    const events = log ?? [];
    const mixed = events.flatMap((event, at) => (at === 1 ? [...strange, event] : [event]));
    expect(show(face, mixed)).toEqual(show(face, events));
  });

  it('writes nothing after the end but what the end brought (E-7)', () => {
    for (const log of readLogs()) {
      const late = createSampleLog().at(900_000).queue(500).begin(500).end(500).events;
      const lines = show(face, log);
      if (face.name.startsWith('stream-json')) expect(show(face, [...log, ...late])).toEqual(lines);
      else expect(show(face, [...log, ...late]).join('')).toContain(lines.join(''));
    }
  });

  it('passes no control character and no half character on (E-5, E-17)', () => {
    const shown = show(face, nastyLog());
    const joined = shown.join('').replaceAll('\n', '');
    expect(joined).not.toMatch(/\p{Cc}/u);
    expect(joined).not.toMatch(/\\u00[019]|\\u007f|\\u[dD][89a-fA-F]/);
    expect(joined.isWellFormed()).toBe(true);
    if (face.name.startsWith('text')) expect(joined).not.toContain('\u202e');
    else for (const line of shown) expect(line).not.toContain('\n');
  });
});
