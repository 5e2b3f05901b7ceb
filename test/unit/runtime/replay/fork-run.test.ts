import { describe, expect, it } from 'vitest';
import type { RunStore } from '../../../../runtime/ports.ts';
import { createMemoryRunStore } from '../../../../runtime/rehearse/memory-run-store.ts';
import { type ForkSource, forkRun } from '../../../../runtime/replay/fork-run.ts';
import { runWorkflow } from '../../../../runtime/run-workflow.ts';
import { answeringBackend } from '../../../support/answering-backend.ts';
import { temporaryStore } from '../../../support/temporary-store.ts';

const META = "export const meta = { name: 'forked', description: 'd' }\n";
const SCRIPT = `${META}
const parts = await parallel(['a', 'b'].map((name) => () => agent('look at ' + name, { label: name })))
return [...parts, await agent('sum up', { label: 'sum' }), await agent('check', { label: 'check' })]`;

/** Runs the script once and gives what a fork is made from. */
async function runOnce(store: RunStore): Promise<ForkSource> {
  const backend = answeringBackend(({ prompt }) => `old ${prompt}`);
  const { runId } = await runWorkflow({ script: SCRIPT, store, backend, argsJson: '{"n":1}', cwd: '/there' });
  const directory = await store.open(runId);
  const { record, scriptText, argsJson, history } = directory;
  await directory.close();
  return { record, scriptText, argsJson, rows: history.rows };
}

async function goOn(store: RunStore, runId: string, onNotice: (text: string) => void = () => {}) {
  const backend = answeringBackend(({ prompt }) => `new ${prompt}`);
  const { output, result } = await runWorkflow({ runId, store, backend, onNotice });
  return { asked: backend.asked, status: output.status, result };
}

describe('forkRun', () => {
  it('makes a run that has all answers, and leaves the old one as it was (R-8, R-13)', async () => {
    const store = temporaryStore();
    const source = await runOnce(store);
    const fork = await forkRun(store, source, { now: 5 });
    expect(fork).toMatchObject({ shared: 4, left: 0 });
    expect(fork.runId).not.toBe(source.record.runId);
    expect(await goOn(store, fork.runId)).toMatchObject({ asked: [], status: 'completed' });
    const old = await store.open(source.record.runId);
    expect(old.history.rows).toEqual(source.rows);
    expect(old.record).toEqual(source.record);
    await old.close();
  });

  it.each([
    ['label', 'sum', ['sum up', 'check']],
    ['scope', '/parallel:0/item:1', ['look at b', 'sum up', 'check']],
    ['scope around it', '/parallel:0', ['look at a', 'look at b', 'sum up', 'check']],
  ])('runs the call with a %s and all later ones anew', async (_, from, asked) => {
    const store = createMemoryRunStore();
    const fork = await forkRun(store, await runOnce(store), { from, now: 5 });
    expect(fork).toMatchObject({ shared: 4 - asked.length, left: asked.length });
    const run = await goOn(store, fork.runId);
    expect(run.asked).toEqual(asked);
    expect(run.result).toHaveLength(4);
  });

  it('takes an edited script: what it asks as before has its answer (R-11)', async () => {
    const store = createMemoryRunStore();
    const text = SCRIPT.replace('sum up', 'sum it up');
    const edit = { text: `${text}\r\n`, fileName: 'edited.js', path: '/there/edited.js' };
    const fork = await forkRun(store, await runOnce(store), { edit, now: 5 });
    const { record, scriptText } = await store.open(fork.runId);
    expect(record).toMatchObject({ scriptFileName: 'edited.js', scriptPath: '/there/edited.js' });
    expect(scriptText).toBe(`${text}\n`);
    const notices: string[] = [];
    const run = await goOn(store, fork.runId, (text) => notices.push(text));
    expect(run.asked).toEqual(['sum it up']);
    expect(run.result).toEqual(['old look at a', 'old look at b', 'new sum it up', 'old check']);
    expect(notices[0]).toContain('The script was edited');
  });

  it('makes nothing when the edited script is invalid (R-13)', async () => {
    const store = createMemoryRunStore();
    const source = await runOnce(store);
    const edit = { text: `${META}return (`, fileName: 'edited.js' };
    await expect(forkRun(store, source, { edit, now: 5 })).rejects.toMatchObject({ code: 'SCRIPT_SYNTAX' });
    await expect(store.open('wf_00000002-000')).rejects.toMatchObject({ code: 'REPLAY_RUN_UNKNOWN' });
  });

  it('goes by the order of the calls where that is known, not by the order of the journal', async () => {
    const store = createMemoryRunStore();
    const source = await runOnce(store);
    const about = new Map(
      source.rows.flatMap(({ row }) => (row.type === 'started' ? [[row.label, { ...row }] as const] : [])),
    );
    const asked = ['check', 'a', 'b', 'sum'].map(
      (label) => about.get(label) as NonNullable<ReturnType<typeof about.get>>,
    );
    const fork = await forkRun(store, { ...source, asked }, { from: 'a', now: 5 });
    expect((await goOn(store, fork.runId)).asked).toEqual(['look at a', 'look at b', 'sum up']);
  });

  it('reads as a run that was interrupted, and remembers where it comes from', async () => {
    const store = createMemoryRunStore();
    const source = await runOnce(store);
    const { runId } = await forkRun(store, source, { from: 'sum', now: 5 });
    const { record } = await store.open(runId);
    expect(record).toMatchObject({
      runId,
      status: 'running',
      createdAt: 5,
      cwd: '/there',
      options: { forkedFrom: { runId: source.record.runId, from: 'sum' } },
    });
    expect(record).not.toHaveProperty('finishedAt');
    expect(record).not.toHaveProperty('census');
  });

  it('is refused when no call has that label or scope, and names the labels', async () => {
    const store = createMemoryRunStore();
    await expect(forkRun(store, await runOnce(store), { from: 'total', now: 5 })).rejects.toMatchObject({
      code: 'USAGE_INVALID',
      message: expect.stringContaining('its labels are "a", "b", "sum", "check"'),
    });
  });
});
