import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { GuestAgentCall, SandboxAnswer, SandboxEnd, SandboxOptions } from '../../../../runtime/sandbox/sandbox.ts';
import { failure, runInSandbox, saying } from './run-in-sandbox.ts';

/**
 * The cases of test/cases that look at the sandbox alone, with a stand-in for the runtime: what they expect of a result,
 * of an error and of the log must already hold here.
 */
const FOLDER = new URL('../../../cases/', import.meta.url);
const FAMILIES = /^(box|help|loose|run|ret)-.*\.json$/;
/** They need the runtime: its own checks of options, its limits, its kill switch. */
const NEED_RUNTIME = new Set([
  ...['run-agent-cap-caught', 'run-agent-cap-through-helpers', 'run-agent-loop-cap', 'run-interrupt-in-loop'],
  ...[
    'run-sandbox-dies-with-its-parent',
    'run-time-limit',
    'ret-fix-is-free',
    'help-agent-never-throws',
    'help-phase-in-a-stage',
  ],
  'box-errors-are-guests',
]);

interface Reply {
  readonly text?: string;
  readonly json?: unknown;
  readonly error?: unknown;
  readonly delayMs?: number;
}

interface Step {
  readonly do: string;
  readonly script?: string;
  readonly args?: unknown;
  readonly cli?: readonly string[];
  readonly expect?: Readonly<Record<string, unknown>>;
}

interface Case {
  readonly id: string;
  readonly title: string;
  readonly script?: string;
  readonly cli?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly responses?: { rules?: readonly { match: string; reply: readonly Reply[] }[]; default?: readonly Reply[] };
  readonly steps: readonly Step[];
}

const cases = readdirSync(FOLDER)
  .filter((name) => FAMILIES.test(name))
  .map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Case)
  .filter(({ id }) => !NEED_RUNTIME.has(id));

describe('the cases of the specification hold in the sandbox', () => {
  for (const { id, title, ...rest } of cases) {
    it(`${id}: ${title}`, { timeout: 60_000 }, () => check(rest as Case));
  }
});

async function check(given: Case): Promise<void> {
  let { script } = given;
  for (const step of given.steps.filter((one) => one.do === 'run')) {
    script = step.script ?? script;
    const expected = step.expect ?? {};
    const run = await runInSandbox(script as string, {
      args: step.args,
      options: optionsOf([...(given.cli ?? []), ...(step.cli ?? [])]),
      agent: (call) => reply(given, call),
      workflows: workflowsOf(given),
    });
    expect(statusOf(run.end), JSON.stringify(run.end)).toBe(
      expected.exit === 0 || expected.status === 'completed' ? 'completed' : 'failed',
    );
    if (expected.noResult === true) expect(run.value).toBeUndefined();
    if ('result' in expected && !isDeepStrictEqual(run.value, expected.result))
      expect(run.value).toEqual(expected.result);
    const errorText = run.end.type === 'returned' ? '' : JSON.stringify(run.end);
    for (const pattern of list(expected.errorMatch)) expect(errorText).toMatch(new RegExp(pattern, 'ims'));
    for (const pattern of list(expected.errorNotMatch)) expect(errorText).not.toMatch(new RegExp(pattern, 'ims'));
    if (expected.errorCode !== undefined) expect(list(expected.errorCode)).toContain(codeOf(run.end));
    const logs = run.logs.join('\n');
    for (const pattern of list(expected.logsMatch)) expect(logs).toMatch(new RegExp(pattern, 'ims'));
    for (const pattern of list(expected.logsNotMatch)) expect(logs).not.toMatch(new RegExp(pattern, 'ims'));
    if (typeof expected.liveCalls === 'number') expect(run.agents).toHaveLength(expected.liveCalls);
  }
}

function list(value: unknown): readonly string[] {
  return value === undefined ? [] : Array.isArray(value) ? (value as string[]) : [String(value)];
}

function statusOf(end: SandboxEnd): string {
  return end.type === 'returned' ? 'completed' : 'failed';
}

function codeOf(end: SandboxEnd): string | undefined {
  const codes = { 'not-json': 'SCRIPT_VALUE_NOT_JSON', deadlock: 'SCRIPT_DEADLOCK' } as Readonly<
    Record<string, string>
  >;
  return end.type === 'limit' ? end.code : end.type === 'threw' ? end.error.code : codes[end.type];
}

function optionsOf(cli: readonly string[]): Partial<SandboxOptions> {
  const value = (name: string): number | undefined =>
    cli.includes(name) ? Number(cli[cli.lastIndexOf(name) + 1]) : undefined;
  const [cpuLimitMs, maxItems, maxDepth] = [value('--cpu-limit-ms'), value('--max-items'), value('--max-depth')];
  return {
    ...(cpuLimitMs === undefined ? {} : { cpuLimitMs }),
    ...(maxItems === undefined ? {} : { maxItems }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  };
}

async function reply(given: Case, call: GuestAgentCall): Promise<SandboxAnswer> {
  for (const { match, reply: replies } of given.responses?.rules ?? []) {
    const found = new RegExp(match).exec(call.prompt);
    if (found !== null) return answerOf(replies[0], found);
  }
  return answerOf(given.responses?.default?.[0], undefined);
}

async function answerOf(turn: Reply | undefined, found: RegExpExecArray | undefined): Promise<SandboxAnswer> {
  if (turn?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, turn.delayMs).unref());
  if (turn?.error !== undefined) return { ok: true, valueJson: 'null' };
  if (turn !== undefined && 'json' in turn) return failure();
  return saying((turn?.text ?? 'ok').replace(/\$(\d)/g, (_, group: string) => found?.[Number(group)] ?? ''));
}

function workflowsOf(given: Case): Record<string, string> {
  const entries = Object.entries(given.files ?? {}).map(([path, text]) => [
    /workflows\/(.*)\.js$/.exec(path)?.[1] ?? path,
    text,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
