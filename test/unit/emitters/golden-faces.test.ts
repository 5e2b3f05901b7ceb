import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectStreamJson } from '../../../emitters/stream-json.ts';
import { createTextEmitter } from '../../../emitters/text.ts';
import { type CoreEvent, coreEventSchema } from '../../../protocol/core-event.ts';
import { type StreamJsonDialect, streamJsonLineSchema } from '../../../protocol/stream-json.ts';

const folder = fileURLToPath(new URL('../../golden/', import.meta.url));
const names = readdirSync(`${folder}logs`).map((file) => file.replace('.events.ndjson', ''));

function readLog(name: string): CoreEvent[] {
  const lines = readFileSync(`${folder}logs/${name}.events.ndjson`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => coreEventSchema.parse(JSON.parse(line)) as CoreEvent);
}

/** Compares with a kept file; `UPDATE_GOLDEN=1` writes it anew. */
function expectGolden(file: string, text: string): void {
  const path = folder + file;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
  expect(existsSync(path), `${file} is missing; run with UPDATE_GOLDEN=1`).toBe(true);
  expect(text).toBe(readFileSync(path, 'utf8'));
}

const optionsOf = (dialect: StreamJsonDialect) => ({
  dialect,
  taskId: dialect === 'cbc' ? '11111111-2222-4333-8444-555555555555' : 'w1a2b3c4d',
  sessionId: '99999999-8888-4777-8666-555555555555',
  includeSource: true,
  scriptText: 'export const meta = {}\n',
  scriptFileName: 'script.js',
  startedByPath: true,
});

describe.each(names)('the log %s', (name) => {
  it.each(['claude', 'cbc'] as const)('gives the kept lines in dialect %s (E-2, E-4 to E-11)', (dialect) => {
    const lines = projectStreamJson(readLog(name), optionsOf(dialect));
    for (const line of lines) streamJsonLineSchema.parse(JSON.parse(line));
    expectGolden(`${name}.${dialect}.ndjson`, `${lines.join('\n')}\n`);
  });

  it('gives the kept text (E-2, E-17)', () => {
    let text = '';
    const emitter = createTextEmitter({
      write: (part) => {
        text += part;
      },
      isTty: false,
      width: () => 80,
      color: false,
      quiet: false,
    });
    for (const event of readLog(name)) emitter.handle(event);
    expectGolden(`${name}.txt`, text);
  });
});
