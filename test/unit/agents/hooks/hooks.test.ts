import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../../support/wait-until.ts';
import { hookBench } from './hook-bench.ts';

const call = { id: 't1', name: 'Bash', input: { command: 'ls' } };
const say = (value: unknown): string => `echo '${JSON.stringify(value)}'`;

describe('hook processes', () => {
  it('get the fields of their event on standard input (H-17)', async () => {
    const { hooks, agent, cwd, read } = hookBench(
      { event: 'SubagentStop', command: 'cat > stop.json' },
      { event: 'PostToolUse', command: 'cat > tool.json' },
    );
    await hooks.subagentStop(agent, { lastAssistantMessage: 'done', stopHookActive: true });
    await hooks.postToolUse(agent, call, { text: 'a b', isError: false });
    const common = {
      session_id: 'wf_11111111-222',
      transcript_path: '/runs/events.ndjson',
      cwd,
      permission_mode: 'default',
      agent_id: agent.request.agentId,
      agent_type: 'workflow-subagent',
      agent_transcript_path: '/runs/agents/x.jsonl',
      workflow_run_id: 'wf_11111111-222',
      label: 'a label',
      phase: 'One',
      agent_key: agent.request.key,
    };
    expect(JSON.parse(read('stop.json'))).toEqual({
      ...common,
      hook_event_name: 'SubagentStop',
      last_assistant_message: 'done',
      stop_hook_active: true,
    });
    expect(JSON.parse(read('tool.json'))).toEqual({
      ...common,
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 't1',
      tool_response: { content: 'a b', is_error: false },
    });
  });

  it('of one event run at the same time: each here waits for the other (H-18)', async () => {
    const meet = (mine: string, other: string): string =>
      `touch ${mine}; while [ ! -e ${other} ]; do sleep 0.01; done; ${say({ additionalContext: mine })}`;
    const { hooks, agent } = hookBench(
      { event: 'SubagentStart', command: meet('one', 'two') },
      { event: 'SubagentStart', command: meet('two', 'one') },
    );
    await expect(hooks.subagentStart(agent)).resolves.toEqual({ additionalContext: 'one\n\ntwo' });
  });

  it('are killed alone when they are too slow, and the run goes on with a warning: children live on (H-18)', async () => {
    const child = '(while [ -d "$PWD" ] && [ ! -e go ]; do sleep 0.01; done; echo alive; touch child-lives) &';
    const { hooks, agent, report, cwd, read } = hookBench({
      event: 'PreToolUse',
      command: `${child} echo $$ > pid; while :; do sleep 0.01; done`,
      timeout: 0.2,
    });
    await expect(hooks.preToolUse(agent, call)).resolves.toMatchObject({ decision: undefined, input: call.input });
    expect(report.warnings).toEqual([
      expect.stringMatching(/PreToolUse hook .* did not end within 0.2 s and was killed/),
    ]);
    await waitUntil(() => !isAlive(Number(read('pid'))));
    writeFileSync(join(cwd, 'go'), '');
    await waitUntil(() => existsSync(join(cwd, 'child-lives')));
  });

  it('that end and leave a child with their output open are not waited for (H-18)', async () => {
    const { hooks, agent, cwd } = hookBench({
      event: 'SubagentStart',
      command: `(while [ -d "$PWD" ] && [ ! -e go ]; do sleep 0.01; done) & ${say({ additionalContext: 'at once' })}`,
    });
    await expect(hooks.subagentStart(agent)).resolves.toEqual({ additionalContext: 'at once' });
    writeFileSync(join(cwd, 'go'), '');
  });

  it('are killed when their agent is stopped (A-18)', async () => {
    const { hooks, agent, controller, cwd, read } = hookBench({
      event: 'SubagentStart',
      command: 'echo $$ > pid; touch begun; while :; do sleep 0.01; done',
    });
    const started = hooks.subagentStart(agent);
    await waitUntil(() => existsSync(join(cwd, 'begun')));
    controller.abort();
    await expect(started).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await waitUntil(() => !isAlive(Number(read('pid'))));
  });

  it.each([
    ['exit 2 with words on stderr', 'echo "not here" >&2; exit 2', 'not here'],
    ['exit 2 with a reason on stdout', `${say({ reason: 'too big' })}; echo noise >&2; exit 2`, 'too big'],
    ['exit 2 with nothing', 'exit 2', 'A hook refused this and gave no reason.'],
    [
      'permissionDecision deny',
      say({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'r' } }),
      'r',
    ],
    [
      'permissionDecision ask, since nobody can be asked',
      say({ hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'r' } }),
      "It needs a person's yes, and nobody can be asked by a hook here: r",
    ],
    ['decision block', say({ decision: 'block', reason: 'r' }), 'r'],
  ])('deny a tool call by %s (H-18)', async (_, command, reason) => {
    const { hooks, agent, report } = hookBench({ event: 'PreToolUse', command });
    await expect(hooks.preToolUse(agent, call)).resolves.toEqual({ decision: 'deny', reason });
    expect(report.warnings).toEqual([]);
  });

  it.each([
    ['updatedInput', say({ hookSpecificOutput: { updatedInput: { command: 'pwd' } } })],
    ['modifiedInput', say({ hookSpecificOutput: { modifiedInput: { command: 'pwd' } }, unknown: [1] })],
    ['updatedInput outside', say({ updatedInput: { command: 'pwd' } })],
  ])('change the input of a tool by %s (H-18)', async (_, command) => {
    const { hooks, agent } = hookBench({ event: 'PreToolUse', command });
    await expect(hooks.preToolUse(agent, call)).resolves.toMatchObject({ changed: true, input: { command: 'pwd' } });
  });

  it.each([
    ['no output', 'true'],
    ['an empty object', 'echo "{}"'],
    ['unknown keys', say({ suppressOutput: true, systemMessage: 'x', updatedInput: 'not an object' })],
    ['output that is no JSON', 'echo hello; echo "{ broken"'],
    ['half a JSON object', 'printf %s "{ broken"'],
    ['two megabytes of output', 'head -c 2000000 /dev/zero'],
  ])('may end well with %s (H-18)', async (_, command) => {
    const { hooks, agent, report } = hookBench({ event: 'PreToolUse', command });
    await expect(hooks.preToolUse(agent, call)).resolves.toMatchObject({ decision: undefined, changed: false });
    expect(report.warnings).toEqual([]);
  });

  it.each([
    ['fail', 'echo oops >&2; exit 3', /ended with exit code 3: oops/],
    ['are no program', './missing', /ended with exit code 127/],
    ['kill themselves', 'kill -9 $$', /was ended by a signal/],
  ])('that %s are a warning, said once a run (H-18)', async (_, command, warning) => {
    const { hooks, agent, report } = hookBench({ event: 'PostToolUse', command });
    await expect(hooks.postToolUse(agent, call, { text: '', isError: true })).resolves.toEqual({ feedback: undefined });
    await hooks.postToolUse(agent, call, { text: '', isError: true });
    expect(report.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('that do not read a large input are fine', async () => {
    const { hooks, agent } = hookBench({ event: 'SubagentStop', command: say({ decision: 'block', reason: 'more' }) });
    const lastAssistantMessage = 'x'.repeat(3_000_000);
    await expect(hooks.subagentStop(agent, { lastAssistantMessage, stopHookActive: false })).resolves.toEqual({
      block: 'more',
    });
  });

  it('that are missing in a working directory that is gone are a warning', async () => {
    const { hooks, agent, report } = hookBench({ event: 'SubagentStart', command: 'true' });
    await hooks.subagentStart({ ...agent, request: { ...agent.request, cwd: '/no/such/directory' } });
    expect(report.warnings).toEqual([expect.stringMatching(/could not be started/)]);
  });

  it('run for what their matcher names, once for each command (H-17)', async () => {
    const log = (word: string): string => `echo ${word} >> log`;
    const { hooks, agent, report, read } = hookBench(
      { event: 'PreToolUse', matcher: 'Bash', command: log('plain') },
      { event: 'PreToolUse', matcher: 'Edit|Bash', command: log('either') },
      { event: 'PreToolUse', matcher: 'Ba', command: log('part') },
      { event: 'PreToolUse', matcher: 'B.*', command: log('pattern') },
      { event: 'PreToolUse', matcher: '*', command: log('all') },
      { event: 'PreToolUse', matcher: '', command: log('all') },
      { event: 'PreToolUse', matcher: 'B[', command: log('broken') },
      { event: 'PreToolUse', matcher: 'bash', command: log('small') },
    );
    await hooks.preToolUse(agent, call);
    expect(read('log').trim().split('\n').sort()).toEqual(['all', 'either', 'pattern', 'plain']);
    expect(report.warnings).toEqual([expect.stringMatching(/matcher "B\[", which is no regular expression/)]);
  });

  it('are held against the type of an agent and the source of a session (H-17)', async () => {
    const { hooks, agent, cwd, read, controller } = hookBench(
      { event: 'SubagentStart', matcher: 'workflow-subagent', command: 'echo untyped >> log' },
      { event: 'SubagentStart', matcher: 'Explore', command: 'echo explore >> log' },
      { event: 'SessionStart', matcher: 'startup', command: 'echo plain words' },
      { event: 'SessionEnd', command: 'cat > end.json' },
      { event: 'Stop', command: `${say({ reason: 'go on' })}; exit 2` },
    );
    await hooks.subagentStart(agent);
    await hooks.subagentStart({ ...agent, request: { ...agent.request, options: { agentType: 'Explore' } } });
    expect(read('log')).toBe('untyped\nexplore\n');
    const session = { sessionId: 's1', transcriptPath: '/t.jsonl', cwd, signal: controller.signal, warn: () => {} };
    const started = await hooks.sessionStart(session, { source: 'startup' });
    expect(started).toEqual({ additionalContext: 'plain words' });
    await expect(hooks.sessionStart(session, { source: 'resume' })).resolves.toEqual({ additionalContext: undefined });
    await hooks.sessionEnd(session, { reason: 'other' });
    expect(JSON.parse(read('end.json'))).toEqual({
      session_id: 's1',
      transcript_path: '/t.jsonl',
      cwd,
      hook_event_name: 'SessionEnd',
      permission_mode: 'default',
      reason: 'other',
    });
    const end = { lastAssistantMessage: 'x', stopHookActive: false };
    await expect(hooks.stop(session, end)).resolves.toEqual({ block: 'go on' });
  });

  it('find the project in their environment (H-17)', async () => {
    const { hooks, agent, cwd, read } = hookBench({
      event: 'SubagentStart',
      command: 'echo "$CLAUDE_PROJECT_DIR" > dir',
    });
    await hooks.subagentStart(agent);
    expect(read('dir').trim()).toBe(cwd);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
