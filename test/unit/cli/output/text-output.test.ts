import { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { describe, expect, it } from 'vitest';
import { createTextOutput } from '../../../../cli/output/text-output.ts';
import { runCli } from '../../../../cli/run-cli.ts';
import { fakeContext } from '../fake-context.ts';

/** A stream whose every write fails. */
function failing(code: string): WriteStream {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no luck, write`), { code })),
  });
  return stream as unknown as WriteStream;
}

describe('what the command writes', () => {
  it('is an error when a full disk takes none of it, and says where the result is (C-7, C-10)', async () => {
    const context = fakeContext({ argv: ['schema'], stdout: createTextOutput(failing('ENOSPC')) });
    expect(await runCli(context)).toBe(74);
    expect(context.printed.stderr).toMatch(
      /could not be written: ENOSPC: no luck, write; .*wf show.*\[OUTPUT_UNWRITABLE\]/,
    );
  });

  it('is no error when its reader went away (E-3)', async () => {
    const context = fakeContext({ argv: ['schema'], stdout: createTextOutput(failing('EPIPE')) });
    expect(await runCli(context)).toBe(0);
    expect(context.printed.stderr).toBe('');
  });
});
