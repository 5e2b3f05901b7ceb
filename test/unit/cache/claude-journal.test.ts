import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readClaudeJournal } from '../../../cache/claude-journal.ts';
import { temporaryDirectories } from './temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

function journal(...lines: (object | string)[]): string {
  const path = join(temporaryDirectory(), 'journal.jsonl');
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return path;
}

const started = (key: string, more: object = {}) => ({
  type: 'started',
  key: `v2:${key}`,
  agentId: `a-${key}`,
  ...more,
});
const result = (key: string, value: unknown) => ({
  type: 'result',
  key: `v2:${key}`,
  agentId: `a-${key}`,
  result: value,
});

describe('readClaudeJournal', () => {
  it('gives the calls in the order they started, whatever order they ended in (R-20)', async () => {
    const path = journal(
      started('a'),
      started('b', { label: 'second' }),
      result('b', { z: 1, a: 2 }),
      result('a', 'one'),
    );
    expect(await readClaudeJournal(path)).toEqual([
      { resultJson: '"one"' },
      { label: 'second', resultJson: '{"z":1,"a":2}' },
    ]);
  });

  it('a call without an answer, or with null, has none (R-20, R-10)', async () => {
    const path = journal(started('a'), started('b'), result('b', null), '{"type":"started","key":"v2:torn');
    expect(await readClaudeJournal(path)).toEqual([{}, {}]);
  });

  it('a call that started again counts once; equal calls that both ended count each (R-20)', async () => {
    const again = journal(started('a'), started('b'), result('b', 1), started('a'), result('a', 2));
    expect(await readClaudeJournal(again)).toEqual([{ resultJson: '2' }, { resultJson: '1' }]);
    const equal = journal(started('a'), started('a'), result('a', 1), result('a', 2));
    expect(await readClaudeJournal(equal)).toEqual([{ resultJson: '1' }, { resultJson: '2' }]);
  });

  it('is undefined for a journal of wf, for other files and where there is none (R-20)', async () => {
    const ours = journal({ type: 'started', key: `v1:${'0'.repeat(64)}`, label: 'not "v2:"' });
    expect(await readClaudeJournal(ours)).toBeUndefined();
    expect(await readClaudeJournal(journal('not json "v2:'))).toBeUndefined();
    expect(await readClaudeJournal(join(ours, 'journal.jsonl'))).toBeUndefined();
    expect(await readClaudeJournal(temporaryDirectory())).toBeUndefined();
  });
});
