import { describe, expect, it } from 'vitest';
import { printError } from '../../../../cli/output/print-error.ts';
import { WorkflowError } from '../../../../protocol/workflow-error.ts';
import { fakeContext } from '../fake-context.ts';

function printed(error: unknown, debug = false): string {
  const context = fakeContext();
  printError(context.stderr, error, debug);
  return context.printed.stderr;
}

describe('printError', () => {
  it('says what happened, the code and its page, and no stack (C-10)', () => {
    expect(printed(new WorkflowError('FILE_MISSING', 'the script a.js does not exist'))).toMatch(
      /^error: the script a\.js does not exist \[FILE_MISSING\]\n {2}docs: \/.*\/docs\/errors\/FILE_MISSING\.md\n$/,
    );
  });

  it('keeps the lines below the first as they are: the offending line and its caret (S-6)', () => {
    expect(printed(new WorkflowError('SCRIPT_SYNTAX', 'a.js:1:7 bad\n  const = 1\n        ^'))).toContain(
      'error: a.js:1:7 bad [SCRIPT_SYNTAX]\n  const = 1\n        ^\n',
    );
  });

  it('a fault of ours asks for a report, and shows its stack only with WF_DEBUG=1 (C-7, C-10)', () => {
    const error = new Error('boom', { cause: new Error('beneath') });
    expect(printed(error)).toMatch(/boom \[INTERNAL_INVARIANT\]\n.*report/);
    expect(printed(error)).not.toContain('print-error.test.ts');
    expect(printed(error, true)).toMatch(/print-error\.test\.ts[\s\S]*caused by Error: beneath/);
  });

  it('text of a script cannot steer the terminal (E-17)', () => {
    expect(printed(new WorkflowError('SCRIPT_THREW', 'a\u001b[2Jb\u0007'))).toContain('a[2Jb [');
  });
});
