import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QueuedAgentFiles } from '../../../cache/agent-files.ts';
import { type Disk, nodeDisk } from '../../../cache/disk.ts';
import type { AgentMeta } from '../../../runtime/ports.ts';
import { createRedactor } from '../../../runtime/redact.ts';
import { systemClock } from '../../../runtime/system-clock.ts';
import { errno } from '../../fault/faulty-disk.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { agentIdOf, keyOf } from './sample-rows.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

function metaOf(n: number, over: Partial<AgentMeta> = {}): AgentMeta {
  return {
    key: keyOf(n),
    agentId: agentIdOf(n),
    type: 'default',
    label: `agent ${n}`,
    phase: null,
    model: 'haiku',
    attempt: 1,
    worktree: null,
    startedAt: 7,
    ...over,
  };
}

/** Counts writes that are under way at the same time. */
function countingDisk(): { disk: Disk; most: () => number } {
  let now = 0;
  let most = 0;
  const writeFile: Disk['writeFile'] = async (...args) => {
    now += 1;
    most = Math.max(most, now);
    await nodeDisk.writeFile(...args);
    now -= 1;
  };
  return { disk: { ...nodeDisk, writeFile }, most: () => most };
}

describe('QueuedAgentFiles', () => {
  it('each agent has its meta and its transcript in order, in private files (A-31, C-9)', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const files = new QueuedAgentFiles({ disk: nodeDisk, clock: systemClock, directory });
    files.writeMeta(metaOf(1));
    for (let n = 0; n < 50; n += 1) {
      files.appendTranscript(agentIdOf(1), { type: 'assistant', n });
      if (n % 10 === 0) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    }
    await files.close();
    const meta = join(directory, `${agentIdOf(1)}.meta.json`);
    const transcript = join(directory, `${agentIdOf(1)}.jsonl`);
    expect(JSON.parse(readFileSync(meta, 'utf8'))).toEqual(metaOf(1));
    const rows = readFileSync(transcript, 'utf8').trim().split('\n');
    expect(rows.map((row) => JSON.parse(row).n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect([directory, meta, transcript].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
  });

  it('the meta of a later attempt replaces the earlier one', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const files = new QueuedAgentFiles({ disk: nodeDisk, clock: systemClock, directory });
    files.writeMeta(metaOf(1));
    files.writeMeta(metaOf(1, { attempt: 2 }));
    await files.close();
    files.writeMeta(metaOf(1, { attempt: 3 }));
    await files.close();
    expect(JSON.parse(readFileSync(join(directory, `${agentIdOf(1)}.meta.json`), 'utf8')).attempt).toBe(3);
  });

  it('thousands of agents use a handful of descriptors', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const { disk, most } = countingDisk();
    const files = new QueuedAgentFiles({ disk, clock: systemClock, directory });
    for (let n = 0; n < 1000; n += 1) {
      files.writeMeta(metaOf(n));
      files.appendTranscript(agentIdOf(n), { type: 'user', text: 'hello' });
    }
    await files.close();
    expect(most()).toBe(8);
    expect(readdirSync(directory)).toHaveLength(2000);
  });

  it('rows that come while a transcript is written wait for that write', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const gate = Promise.withResolvers<void>();
    const writing = Promise.withResolvers<void>();
    const texts: string[] = [];
    const writeFile: Disk['writeFile'] = async (path, text, options) => {
      texts.push(text);
      writing.resolve();
      await gate.promise;
      await nodeDisk.writeFile(path, text, options);
    };
    const files = new QueuedAgentFiles({ disk: { ...nodeDisk, writeFile }, clock: systemClock, directory });
    files.appendTranscript(agentIdOf(1), { type: 'user', n: 1 });
    void files.saved(agentIdOf(1));
    await writing.promise;
    files.appendTranscript(agentIdOf(1), { type: 'user', n: 2 });
    await new Promise<void>((resolve) => setImmediate(resolve));
    files.appendTranscript(agentIdOf(1), { type: 'user', n: 3 });
    expect(texts).toEqual(['{"type":"user","n":1}\n']);
    gate.resolve();
    await files.close();
    expect(texts.slice(1)).toEqual(['{"type":"user","n":2}\n{"type":"user","n":3}\n']);
  });

  it('rows of a quarter of a second are written in one go, and at once when someone waits for them (A-31)', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const clock = new FakeClock();
    const texts: string[] = [];
    const writeFile: Disk['writeFile'] = async (path, text, options) => {
      texts.push(text);
      await nodeDisk.writeFile(path, text, options);
    };
    const files = new QueuedAgentFiles({ disk: { ...nodeDisk, writeFile }, clock, directory });
    const row = (n: number): void => files.appendTranscript(agentIdOf(1), { type: 'user', n });
    row(1);
    await clock.advance(249);
    row(2);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(texts).toEqual([]);
    await clock.advance(1);
    await waitUntil(() => texts.length === 1);
    await files.saved(agentIdOf(1));
    row(3);
    await files.saved(agentIdOf(1));
    expect(texts).toEqual(['{"type":"user","n":1}\n{"type":"user","n":2}\n', '{"type":"user","n":3}\n']);
    row(4);
    files.appendTranscript(agentIdOf(1), { type: 'assistant', text: 'x'.repeat(70_000) });
    await waitUntil(() => texts.length === 3);
    await files.close();
  });

  it('transcripts and metas hold no secret (A-32)', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const files = new QueuedAgentFiles({
      disk: nodeDisk,
      clock: systemClock,
      directory,
      redactor: createRedactor(['correct horse']),
    });
    files.writeMeta(metaOf(1, { label: 'uses correct horse' }));
    files.appendTranscript(agentIdOf(1), { type: 'tool_result', content: [{ text: 'correct horse battery' }] });
    await files.close();
    const texts = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(text).toContain('[REDACTED]');
      expect(text).not.toContain('correct horse');
    }
  });

  it('the first failure is told at the end, and nothing throws before', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    const writeFile: Disk['writeFile'] = async () => {
      throw errno('ENOSPC', 'no space left on device');
    };
    const files = new QueuedAgentFiles({ disk: { ...nodeDisk, writeFile }, clock: systemClock, directory });
    files.writeMeta(metaOf(1));
    files.appendTranscript(agentIdOf(1), { type: 'user' });
    await expect(files.close()).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.stringContaining(`${agentIdOf(1)}.meta.json`),
    });
  });

  it('a run without agents has no directory for them', async () => {
    const directory = join(temporaryDirectory(), 'agents');
    await new QueuedAgentFiles({ disk: nodeDisk, clock: systemClock, directory }).close();
    expect(existsSync(directory)).toBe(false);
  });
});
