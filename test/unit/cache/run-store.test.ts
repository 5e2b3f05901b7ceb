import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { umask } from 'node:process';
import { afterEach, describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../cache/disk.ts';
import { systemProcesses } from '../../../cache/process-table.ts';
import { readRunLock } from '../../../cache/run-lock.ts';
import { createRunStore } from '../../../cache/run-store.ts';
import { NO_AGENTS } from '../../../protocol/nothing-used.ts';
import { type RunOutput, runIdPattern, runRecordSchema } from '../../../protocol/run-record.ts';
import type { RunDirectory } from '../../../runtime/ports.ts';
import { createRedactor } from '../../../runtime/redact.ts';
import { errno } from '../../fault/faulty-disk.ts';
import { sampleRecord } from './sample-record.ts';
import { agentIdOf, keyOf, launchedRow, resultHead, startedRow } from './sample-rows.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();
const usualMask = umask();
afterEach(() => void umask(usualMask));

const INIT = { record: sampleRecord(), scriptText: 'return 1\n', argsJson: undefined };
const OUTPUT: Omit<RunOutput, 'result'> = {
  status: 'completed',
  usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, tool_uses: 0, duration_ms: 1 },
  census: NO_AGENTS,
  failures: [],
  logs: [],
  limits_hit: [],
};

/** Writes one of each file that a run can have. */
async function fill(run: RunDirectory): Promise<void> {
  run.journal.append(launchedRow({ runId: run.runId }));
  run.journal.append(startedRow(1));
  run.journal.appendResult(resultHead(1), '{"b":1,"a":2}');
  await run.journal.durable();
  run.events.append('log', { level: 'info', text: 'hello' });
  run.agentFiles.writeMeta({
    key: keyOf(1),
    agentId: agentIdOf(1),
    type: 'default',
    label: 'one',
    phase: null,
    model: null,
    attempt: 1,
    worktree: null,
    startedAt: 1,
  });
  run.agentFiles.appendTranscript(agentIdOf(1), { type: 'user', text: 'hello' });
  await run.saveOutput({ ...OUTPUT, runId: run.runId }, '{"b":1,"a":2}');
}

function modesBelow(path: string): Record<string, number> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(names.map((name) => [name, statSync(join(path, name)).mode & 0o777]));
}

describe('createRunStore', () => {
  it.each([0o000, 0o077, 0o277])('a run has the layout of C-9 in private files, under umask %o too', async (mask) => {
    const root = join(temporaryDirectory(), 'new', 'state');
    umask(mask);
    const run = await createRunStore({ root }).create({ ...INIT, argsJson: '{"n":1}' });
    await fill(run);
    await run.close();
    umask(usualMask);
    expect(run.runId).toMatch(runIdPattern);
    expect(run.path).toBe(join(root, 'runs', run.runId));
    const modes = modesBelow(run.path);
    expect(Object.keys(modes).sort()).toEqual(
      [
        'agents',
        `agents/${agentIdOf(1)}.jsonl`,
        `agents/${agentIdOf(1)}.meta.json`,
        'args.json',
        'events.ndjson',
        'journal.jsonl',
        'output.json',
        'owner.1.json',
        'run.json',
        'script.js',
      ].sort(),
    );
    for (const [name, mode] of Object.entries(modes)) {
      expect(mode, name).toBe(name === 'agents' ? 0o700 : 0o600);
    }
    for (const path of [root, join(root, 'runs'), run.path]) {
      expect(statSync(path).mode & 0o777, path).toBe(0o700);
    }
  });

  it('a stored run opens with everything it had, from any process or directory (R-12)', async () => {
    const root = temporaryDirectory();
    const first = await createRunStore({ root }).create({ ...INIT, argsJson: '{"n":1}' });
    await fill(first);
    await first.close();

    const again = await createRunStore({ root }).open(first.runId);
    expect(again.record).toEqual(first.record);
    expect(again.scriptText).toBe('return 1\n');
    expect(again.argsJson).toBe('{"n":1}');
    expect(again.history.warnings).toEqual([]);
    expect(again.history.rows.map(({ row, resultJson }) => [row.type, resultJson])).toEqual([
      ['launched', undefined],
      ['started', undefined],
      ['result', '{"b":1,"a":2}'],
    ]);
    again.journal.append(launchedRow({ launch: 2 }));
    again.events.append('log', { level: 'info', text: 'again' });
    await again.close();
    expect(readFileSync(join(again.path, 'journal.jsonl'), 'utf8').trim().split('\n')).toHaveLength(4);
    expect(readFileSync(join(again.path, 'events.ndjson'), 'utf8')).toMatch(/"seq":1.*\n.*"seq":2.*\n$/);
  });

  it('opening changes no byte of the old run (R-13)', async () => {
    const root = temporaryDirectory();
    const run = await createRunStore({ root }).create(INIT);
    await fill(run);
    await run.close();
    writeFileSync(join(run.path, 'journal.jsonl'), '{"type":"res', { flag: 'a' });
    writeFileSync(join(run.path, 'events.ndjson'), '{"seq":2,', { flag: 'a' });
    const files = ['journal.jsonl', 'events.ndjson', 'run.json', 'script.js', 'output.json'];
    const before = files.map((name) => readFileSync(join(run.path, name), 'utf8'));
    const again = await createRunStore({ root }).open(run.runId, { salvage: true });
    expect(again.history.warnings).toHaveLength(1);
    await again.close();
    expect(files.map((name) => readFileSync(join(run.path, name), 'utf8'))).toEqual(before);
  });

  it('records are replaced by rename, in the order of the calls, and name their owner while they run (C-9)', async () => {
    const root = temporaryDirectory();
    const renamed: string[] = [];
    const rename: Disk['rename'] = async (from, to) => {
      renamed.push(String(to).split('/').at(-1) ?? '');
      await nodeDisk.rename(from, to);
    };
    const run = await createRunStore({ root, disk: { ...nodeDisk, rename } }).create(INIT);
    const { pidNamespace: _, ...owner } = systemProcesses().self;
    expect(run.record.owner).toEqual(owner);
    await Promise.all([1, 2, 3].map((launch) => run.saveRecord({ ...run.record, launch })));
    expect(run.record.launch).toBe(3);
    await run.saveScript('return 2\n');
    await run.saveArgs('[]');
    expect([run.scriptText, run.argsJson]).toEqual(['return 2\n', '[]']);
    await run.saveArgs(undefined);
    expect(existsSync(join(run.path, 'args.json'))).toBe(false);
    await run.saveArgs(undefined);
    const stored = runRecordSchema.parse(JSON.parse(readFileSync(join(run.path, 'run.json'), 'utf8')));
    expect(stored).toEqual(run.record);
    expect(renamed).toEqual(['script.js', 'run.json', 'run.json', 'run.json', 'run.json', 'script.js', 'args.json']);
    await run.close();
    expect(readdirSync(run.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('output.json holds the text of the result as it is, and none when there is none (C-6)', async () => {
    const run = await createRunStore({ root: temporaryDirectory() }).create(INIT);
    const path = await run.saveOutput({ ...OUTPUT, runId: run.runId }, '{"b":1.0,"a":2}');
    const text = readFileSync(path, 'utf8');
    expect(text.startsWith(`{"status":"completed","runId":"${run.runId}","result":{"b":1.0,"a":2},"usage":`)).toBe(
      true,
    );
    expect(JSON.parse(text)).toEqual({ ...OUTPUT, runId: run.runId, result: { b: 1, a: 2 } });
    await run.saveOutput({ ...OUTPUT, runId: run.runId }, undefined);
    expect(JSON.parse(readFileSync(path, 'utf8'))).not.toHaveProperty('result');
    await run.close();
  });

  it('an id that is taken is never used again', async () => {
    const root = temporaryDirectory();
    const bytes = [1, 1, 2, 3].map((n) => new Uint8Array(6).fill(n));
    const randomBytes = (size: number): Uint8Array =>
      size === 6 ? (bytes.shift() ?? new Uint8Array(6)) : new Uint8Array(size).fill(9);
    const store = createRunStore({ root, randomBytes });
    const ids = [await store.create(INIT), await store.create(INIT)].map(({ runId }) => runId);
    expect(ids).toEqual(['wf_01010101-010', 'wf_02020202-020']);
  });

  it('a live run cannot be opened; after its close it can (R-14)', async () => {
    const root = temporaryDirectory();
    const store = createRunStore({ root });
    const run = await store.create(INIT);
    await expect(store.open(run.runId)).rejects.toMatchObject({ code: 'REPLAY_RUN_LIVE' });
    const lockOptions = { disk: nodeDisk, runPath: run.path, processes: systemProcesses(), now: () => Date.now() };
    expect((await readRunLock(lockOptions))?.live).toBe(true);
    await run.close();
    await run.close();
    expect((await readRunLock(lockOptions))?.live).toBe(false);
    await (await store.open(run.runId)).close();
  });

  it('a run that cannot be opened is given free again', async () => {
    const root = temporaryDirectory();
    const store = createRunStore({ root });
    const run = await store.create(INIT);
    await fill(run);
    await run.close();
    const journal = join(run.path, 'journal.jsonl');
    const sound = readFileSync(journal, 'utf8');
    writeFileSync(journal, `rubbish\n${sound}`);
    await expect(store.open(run.runId)).rejects.toMatchObject({ code: 'REPLAY_JOURNAL_CORRUPT' });
    const again = await store.open(run.runId, { salvage: true });
    expect(again.history.rows).toHaveLength(3);
    await again.close();
  });

  it('an unknown run is an error, and a beginning of an id is no id (R-12)', async () => {
    const root = temporaryDirectory();
    const store = createRunStore({ root });
    await expect(store.open('wf_deadbeef-abc')).rejects.toMatchObject({ code: 'REPLAY_RUN_UNKNOWN' });
    expect(existsSync(join(root, 'runs'))).toBe(false);
    const run = await store.create(INIT);
    await run.close();
    await expect(store.open(run.runId.slice(0, 9))).rejects.toMatchObject({ code: 'REPLAY_RUN_UNKNOWN' });
  });

  it('missing and damaged files of a run are told by name', async () => {
    const root = temporaryDirectory();
    const store = createRunStore({ root });
    const run = await store.create({ ...INIT, record: { ...INIT.record, argsSha256: 'ab' }, argsJson: '1' });
    await run.close();
    const record = readFileSync(join(run.path, 'run.json'), 'utf8');
    const cases = [
      ['script.js', undefined, 'FILE_MISSING'],
      ['args.json', undefined, 'FILE_MISSING'],
      ['run.json', undefined, 'FILE_MISSING'],
      ['run.json', '{"v":1,', 'FILE_UNREADABLE'],
      ['run.json', record.replace('"launch": 1', '"launch": "x"'), 'FILE_UNREADABLE'],
      ['run.json', '{"v":2}', 'REPLAY_FORMAT_NEWER'],
    ] as const;
    for (const [name, content, code] of cases) {
      const path = join(run.path, name);
      const before = readFileSync(path, 'utf8');
      if (content === undefined) {
        await nodeDisk.unlink(path);
      } else {
        writeFileSync(path, content);
      }
      await expect(store.open(run.runId), `${name} ${content}`).rejects.toMatchObject({
        code,
        message: expect.stringContaining(path),
      });
      writeFileSync(path, before);
    }
    await (await store.open(run.runId)).close();
  });

  it('secrets reach events and transcripts redacted, and the journal whole (A-32)', async () => {
    const redactor = createRedactor(['correct horse']);
    const run = await createRunStore({ root: temporaryDirectory(), redactor }).create(INIT);
    run.events.append('log', { level: 'info', text: 'correct horse' });
    run.agentFiles.appendTranscript(agentIdOf(1), { type: 'assistant', text: 'correct horse' });
    run.journal.appendResult(resultHead(1), '"correct horse"');
    await run.close();
    const read = (name: string) => readFileSync(join(run.path, name), 'utf8');
    expect(read('events.ndjson')).toContain('[REDACTED]');
    expect(read('events.ndjson')).not.toContain('correct horse');
    expect(read(`agents/${agentIdOf(1)}.jsonl`)).not.toContain('correct horse');
    expect(read('journal.jsonl')).toContain('"correct horse"');
  });
});

describe('a state directory that cannot be written', () => {
  it('a file in the way of it, or above it, is named (C-9)', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'file');
    writeFileSync(file, '');
    for (const root of [file, join(file, 'below'), join(file, 'far', 'below')]) {
      await expect(createRunStore({ root }).create(INIT), root).rejects.toMatchObject({
        code: 'STATE_UNWRITABLE',
        message: expect.stringMatching(new RegExp(`^${file} cannot be written.*Move the file away.*--state-dir`)),
      });
    }
    mkdirSync(join(directory, 'state'));
    symlinkSync('/dev/null', join(directory, 'state', 'runs'));
    await expect(createRunStore({ root: join(directory, 'state') }).create(INIT)).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
    });
  });

  it('a place that refuses directories is told (C-9)', async () => {
    await expect(createRunStore({ root: '/proc/wf-state' }).create(INIT)).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.stringContaining('/proc/wf-state'),
    });
  });

  it.each(['EROFS', 'EACCES', 'ENOSPC'])('%s comes before anything is paid, with what to do (C-9)', async (code) => {
    const root = temporaryDirectory();
    const refuse = async () => {
      throw errno(code, 'refused');
    };
    for (const changes of [{ mkdir: refuse }, { open: refuse }, { rename: refuse }] as Partial<Disk>[]) {
      const store = createRunStore({ root, disk: { ...nodeDisk, ...changes } });
      await expect(store.create(INIT)).rejects.toMatchObject({
        code: 'STATE_UNWRITABLE',
        message: expect.stringMatching(/refused\. .*--state-dir/),
        data: { errno: code },
      });
    }
  });
});
