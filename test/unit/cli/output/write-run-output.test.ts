import { describe, expect, it } from 'vitest';
import { refusedOutput } from '../../../../cli/output/refused-output.ts';
import { writeRunOutput } from '../../../../cli/output/write-run-output.ts';
import { runOutputSchema } from '../../../../protocol/run-record.ts';
import { fakeContext } from '../fake-context.ts';

function print(...rest: [Parameters<typeof writeRunOutput>[1], string | undefined]): string {
  const context = fakeContext();
  writeRunOutput(context.stdout, ...rest);
  return context.printed.stdout;
}

describe('the one object of --output-format json', () => {
  const output = { ...refusedOutput({ code: 'SCRIPT_THREW', message: 'no' }), status: 'completed' as const };

  it('holds the exact text of the result, key order and numbers included (C-6, R-26)', () => {
    const text = print({ ...output, runId: 'wf_0a1b2c3d-4e5' }, '{"z":1.0,"10":2,"a":null}');
    expect(text).toContain('"result":{"z":1.0,"10":2,"a":null},');
    expect(JSON.parse(text)).toMatchObject({ status: 'completed', runId: 'wf_0a1b2c3d-4e5', result: { z: 1 } });
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('has no result where there is none, and keeps null apart from none (C-6)', () => {
    expect(JSON.parse(print(output, undefined))).not.toHaveProperty('result');
    expect(JSON.parse(print(output, 'null'))).toHaveProperty('result', null);
  });

  it('a refused run has every member that a finished one has (C-6)', () => {
    const refused = JSON.parse(
      print(refusedOutput({ code: 'LIMIT_ITEMS', message: 'm', line: 2, column: 3 }), undefined),
    );
    expect(runOutputSchema.parse(refused)).toEqual(refused);
    expect(refused).toMatchObject({ status: 'failed', error: { line: 2, column: 3 }, limits_hit: ['LIMIT_ITEMS'] });
  });
});
