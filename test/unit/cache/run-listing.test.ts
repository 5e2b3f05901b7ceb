import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../cache/disk.ts';
import { lastRunId, listRuns, resolveRunId } from '../../../cache/run-listing.ts';
import { runState } from '../../../cache/run-state.ts';
import { sampleRecord } from './sample-record.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

function stateWith(runs: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const [id, record] of Object.entries(runs)) {
    mkdirSync(join(root, 'runs', id), { recursive: true });
    writeFileSync(join(root, 'runs', id, 'run.json'), record);
  }
  return root;
}

function recordText(runId: string, createdAt: number): string {
  return JSON.stringify({ ...sampleRecord(), runId, createdAt });
}

const THREE = {
  'wf_aaaa1111-000': recordText('wf_aaaa1111-000', 2),
  'wf_aaaa2222-000': recordText('wf_aaaa2222-000', 3),
  'wf_bbbb3333-000': recordText('wf_bbbb3333-000', 1),
};

describe('listRuns', () => {
  it('runs are listed newest first (C-9)', async () => {
    const ids = (await listRuns(stateWith(THREE))).map(({ runId }) => runId);
    expect(ids).toEqual(['wf_aaaa2222-000', 'wf_aaaa1111-000', 'wf_bbbb3333-000']);
  });

  it('a run with a damaged record hides no other, and is told of (C-5)', async () => {
    const root = stateWith({ ...THREE, 'wf_cccc4444-000': '{"v":1', 'wf_dddd5555-000': '{}', 'not a run': 'x' });
    mkdirSync(join(root, 'runs', 'wf_eeee6666-000'));
    const left: string[] = [];
    expect(await listRuns(root, nodeDisk, (id, { code }) => left.push(`${id} ${code}`))).toHaveLength(3);
    expect(left.toSorted()).toEqual([
      'wf_cccc4444-000 FILE_UNREADABLE',
      'wf_dddd5555-000 FILE_UNREADABLE',
      'wf_eeee6666-000 FILE_MISSING',
    ]);
  });

  it('a state directory that is not there has no runs', async () => {
    const root = join(temporaryDirectory(), 'nothing');
    expect(await listRuns(root)).toEqual([]);
    expect(await lastRunId(root)).toBeUndefined();
  });
});

describe('lastRunId', () => {
  it('gives the run that was made last (C-2)', async () => {
    expect(await lastRunId(stateWith(THREE))).toBe('wf_aaaa2222-000');
  });
});

describe('resolveRunId', () => {
  it('takes an id, its beginning, or its beginning without wf_', async () => {
    const root = stateWith(THREE);
    expect(await resolveRunId(root, 'wf_bbbb3333-000')).toBe('wf_bbbb3333-000');
    expect(await resolveRunId(root, 'wf_b')).toBe('wf_bbbb3333-000');
    expect(await resolveRunId(root, 'aaaa2')).toBe('wf_aaaa2222-000');
  });

  it('a beginning of several ids is refused with all of them', async () => {
    await expect(resolveRunId(stateWith(THREE), 'wf_aaaa')).rejects.toMatchObject({
      code: 'REPLAY_RUN_AMBIGUOUS',
      message: expect.stringContaining('wf_aaaa1111-000, wf_aaaa2222-000'),
    });
  });

  it('an unknown run is an error that names ids like it (R-12)', async () => {
    const root = stateWith(THREE);
    await expect(resolveRunId(root, 'wf_bbbb3383-000')).rejects.toMatchObject({
      code: 'REPLAY_RUN_UNKNOWN',
      message: expect.stringMatching(/"wf_bbbb3383-000".*Did you mean wf_bbbb3333-000\?/s),
    });
    await expect(resolveRunId(root, 'wf_deadbeef-abc')).rejects.toMatchObject({
      code: 'REPLAY_RUN_UNKNOWN',
      message: expect.stringMatching(/wf_deadbeef-abc.*wf list/s),
    });
    await expect(resolveRunId(stateWith({}), 'wf_deadbeef-abc')).rejects.toMatchObject({
      message: expect.stringMatching(/No run is kept there; --state-dir/),
    });
  });

  it('no id leads out of the state directory', async () => {
    const root = stateWith(THREE);
    mkdirSync(join(root, 'wf_outside'));
    for (const id of ['', 'wf_', '..', '../wf_outside', 'wf_aaaa1111-000/..', '.', '%2e']) {
      await expect(resolveRunId(root, id), id).rejects.toMatchObject({ code: 'REPLAY_RUN_UNKNOWN' });
    }
  });
});

describe('runState', () => {
  it('a running record that nobody holds was interrupted (R-14)', () => {
    expect(runState({ status: 'running' }, { live: true })).toBe('running');
    expect(runState({ status: 'running' }, { live: false })).toBe('interrupted');
    expect(runState({ status: 'running' }, undefined)).toBe('interrupted');
    expect(runState({ status: 'completed' }, undefined)).toBe('completed');
    expect(runState({ status: 'failed' }, { live: true })).toBe('failed');
  });
});
