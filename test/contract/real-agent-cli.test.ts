import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../../agents/process/find-program.ts';
import { openProcessBackend } from '../../agents/process/process-backend.ts';
import { agentRequest, numberContract } from '../support/agent-request.ts';
import { startFakeApi } from '../support/fake-messages-api.mjs';
import { FakeReporter } from '../support/fake-reporter.ts';

/** Agent CLIs that may be on this machine. Only `claude` can be pointed at a model of ours. */
const COMMANDS = ['claude', 'codebuddy'] as const;

describe.each(COMMANDS)('the real %s', (command) => {
  it('answers, or is found to be missing from this machine (A-26)', { timeout: 120_000 }, async (test) => {
    const searchPath = process.env['PATH'] ?? '';
    const home = mkdtempSync(path.join(tmpdir(), 'wf-real-cli-'));
    const program = await findProgram(command, { searchPath, cwd: home });
    const api = await startFakeApi({
      rules: {
        rules: [{ match: 'NUMBER', reply: [{ json: { n: 4 } }, { text: 'done' }] }],
        default: [{ text: 'hello' }],
      },
    });
    const env = { PATH: searchPath, HOME: home, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'fake' };
    const open = () => openProcessBackend({ name: command, command: [command], env, cwd: home });
    try {
      if (program === undefined) {
        await test.annotate(`there is no ${command} on the search path; its absence was tested`);
        await expect(open()).rejects.toMatchObject({ code: 'FILE_MISSING' });
        return;
      }
      const backend = await open();
      if (command === 'claude') {
        const { signal } = new AbortController();
        const text = await backend.run(agentRequest('SAY hello', { cwd: home }), signal, new FakeReporter());
        expect(text.valueJson).toBe('"hello"');
        const request = agentRequest('NUMBER', { cwd: home, output: numberContract });
        const value = await backend.run(request, signal, new FakeReporter());
        expect(value.valueJson).toBe('{"n":4}');
      }
      await backend.warmUp?.();
      await backend.close();
    } finally {
      await api.close();
      rmSync(home, { recursive: true, force: true });
    }
  });
});
