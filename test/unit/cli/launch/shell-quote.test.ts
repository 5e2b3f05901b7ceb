import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resumeCommand } from '../../../../cli/launch/resume-command.ts';
import { shellQuote } from '../../../../hosts/workflow-tool/shell-quote.ts';

function wordsAsShellReads(commandLine: string): readonly string[] {
  const { stdout, status } = spawnSync('sh', ['-c', `printf '%s\\0' ${commandLine}`], { encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout.split('\0').slice(0, -1);
}

/** Any text that an argument can hold: no NUL, whole characters. */
const argument = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));

describe('shellQuote', () => {
  it('a real shell reads every word back unchanged (C-6)', () => {
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 60 }), (words) => {
        expect(wordsAsShellReads(words.map(shellQuote).join(' '))).toEqual(words);
      }),
      { numRuns: 40 },
    );
  });

  it('leaves plain words as they are', () => {
    expect(shellQuote('/home/a/.wf-1')).toBe('/home/a/.wf-1');
    expect(shellQuote('')).toBe("''");
    expect(shellQuote("it's $HOME")).toBe("'it'\\''s $HOME'");
  });
});

describe('resumeCommand', () => {
  const base = { runId: 'wf_0a1b2c3d-4e5', stateRoot: '/home/a/.wf', defaultStateRoot: '/home/a/.wf' };

  it('names nothing that is a default (C-6)', () => {
    expect(resumeCommand(base)).toBe('wf resume wf_0a1b2c3d-4e5');
  });

  it('names the state directory and the backend’s options where they are not the defaults (C-6)', () => {
    const command = resumeCommand({ ...base, stateRoot: '/tmp/a b', backend: 'anthropic', model: 'opus' });
    expect(wordsAsShellReads(command)).toEqual([
      ...['wf', 'resume', 'wf_0a1b2c3d-4e5', '--state-dir', '/tmp/a b'],
      ...['--backend', 'anthropic', '--model', 'opus'],
    ]);
  });

  it('leaves planned answers out, which belong to one launch', () => {
    expect(resumeCommand({ ...base, backend: 'scripted' })).toBe('wf resume wf_0a1b2c3d-4e5');
  });
});
