import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHooks } from '../../../../agents/hooks/create-hooks.ts';
import { readHookSettings } from '../../../../agents/hooks/hook-settings.ts';
import type { HookEvent, HookedAgent, Hooks } from '../../../../agents/hooks/hooks.ts';
import { agentRequest } from '../../../support/agent-request.ts';
import { FakeReporter } from '../../../support/fake-reporter.ts';

/** A hook for a shell, which runs in the directory of the agent. */
export interface TestHook {
  readonly event: HookEvent;
  readonly command: string;
  readonly matcher?: string;
  /** Seconds. */
  readonly timeout?: number;
}

export interface HookBench {
  readonly hooks: Hooks;
  readonly agent: HookedAgent;
  readonly report: FakeReporter;
  readonly controller: AbortController;
  /** Working directory of the agent. */
  readonly cwd: string;
  /** Text of a file that a hook wrote. */
  read(name: string): string;
}

/** Makes hooks of shell commands, and an agent in a directory of its own, removed after the test. */
export function hookBench(...list: readonly TestHook[]): HookBench {
  const cwd = mkdtempSync(join(tmpdir(), 'wf-hooks-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 3 }));
  const report = new FakeReporter();
  const controller = new AbortController();
  const hooks: Partial<Record<HookEvent, unknown[]>> = {};
  for (const { event, command, matcher, timeout } of list) {
    hooks[event] = [...(hooks[event] ?? []), { matcher, hooks: [{ type: 'command', command, timeout }] }];
  }
  const run = { runId: 'wf_11111111-222', eventsPath: '/runs/events.ndjson', transcriptPath: '/runs/agents/x.jsonl' };
  return {
    cwd,
    report,
    controller,
    hooks: createHooks({
      settings: [readHookSettings(JSON.stringify({ hooks }), { name: 'settings.json' })],
      env: { PATH: process.env['PATH'] },
      projectDirectory: cwd,
    }),
    agent: {
      request: agentRequest('GO', { cwd, run, label: 'a label', phase: 'One' }),
      signal: controller.signal,
      report,
    },
    read: (name) => readFileSync(join(cwd, name), 'utf8'),
  };
}
