import { describe, expect, it } from 'vitest';
import { exitCodeOfError, exitCodeOfRun, exitCodeOfSignal } from '../../../cli/exit-code.ts';

describe('exit codes', () => {
  it.each([
    ['completed', undefined, undefined, 0],
    ['failed', 'SCRIPT_THREW', undefined, 1],
    ['failed', 'LIMIT_AGENT_COUNT', undefined, 4],
    ['failed', 'AGENTS_FAILED', undefined, 5],
    ['failed', 'AGENT_AUTH', undefined, 5],
    ['failed', 'LIMIT_TIME', undefined, 124],
    ['failed', 'INTERNAL_INVARIANT', undefined, 70],
    ['killed', 'RUN_CANCELLED', 'SIGINT', 130],
    ['killed', 'RUN_CANCELLED', 'SIGTERM', 143],
    ['killed', 'RUN_CANCELLED', 'SIGHUP', 143],
    ['killed', 'RUN_CANCELLED', undefined, 130],
    ['completed', undefined, 'SIGINT', 0],
  ] as const)('a run that is %s with %s after %s ends with %s (C-7)', (status, code, signal, exit) => {
    expect(exitCodeOfRun({ status, error: code === undefined ? undefined : { code } }, signal)).toBe(exit);
  });

  it.each([
    ['USAGE_INVALID', 64],
    ['USAGE_UNSUPPORTED', 64],
    ['SCRIPT_SYNTAX', 65],
    ['FILE_MISSING', 66],
    ['WORKFLOW_UNKNOWN', 66],
    ['WORKFLOWS_DISABLED', 69],
    ['STATE_UNWRITABLE', 74],
    ['REPLAY_RUN_LIVE', 75],
    ['NO_SUCH_CODE', 70],
  ])('%s ends with %s (C-7)', (code, exit) => {
    expect(exitCodeOfError(code)).toBe(exit);
  });

  it('a signal has its own code (C-7)', () => {
    expect(exitCodeOfSignal('SIGINT')).toBe(130);
    expect(exitCodeOfSignal('SIGTERM')).toBe(143);
  });
});
