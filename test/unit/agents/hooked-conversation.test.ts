import { describe, expect, it } from 'vitest';
import { converse } from '../../../agents/conversation.ts';
import type { HookEvent, Hooks } from '../../../agents/hooks/hooks.ts';
import type { ConversationMessage, Turn } from '../../../agents/model-turns.ts';
import type { AgentTool } from '../../../agents/tools/agent-tool.ts';
import type { AgentRequest } from '../../../runtime/ports.ts';
import { agentRequest, numberContract } from '../../support/agent-request.ts';
import { FakeReporter } from '../../support/fake-reporter.ts';
import { hookBench, type TestHook } from './hooks/hook-bench.ts';

const usage = { inputTokens: 1, outputTokens: 2 };
const text = (value: string): Turn => ({
  type: 'message',
  blocks: [{ type: 'text', text: value }],
  stopReason: 'end_turn',
  usage,
});
const call = (name: string, input: unknown): Turn => ({
  type: 'message',
  blocks: [{ type: 'tool_use', id: `id-${name}`, name, rawInput: JSON.stringify(input) }],
  stopReason: 'tool_use',
  usage,
});
const say = (value: unknown): string => `echo '${JSON.stringify(value)}'`;
const echo: AgentTool = {
  name: 'Echo',
  description: '',
  inputSchema: { type: 'object' },
  run: async (input) => ({ text: JSON.stringify(input), isError: false }),
};

async function talk(turns: readonly Turn[], hooks: readonly TestHook[], changes: Partial<AgentRequest> = {}) {
  const bench = hookBench(...hooks);
  const { agent, report, controller } = bench;
  const sent: ConversationMessage[][] = [];
  const send = (history: readonly ConversationMessage[]): Turn => {
    sent.push([...history]);
    return turns[Math.min(sent.length, turns.length) - 1] as Turn;
  };
  const request = { ...agent.request, ...changes };
  const parts = { request, signal: controller.signal, report, turns: { send }, tools: [echo], hooks: bench.hooks };
  return { ...bench, sent, outcome: await converse(parts) };
}

describe('a conversation with hooks', () => {
  it('gives the model the reason of a denial as the error of its tool (H-18)', async () => {
    const turns = [call('Echo', { a: 1 }), text('ok')];
    const deny = `${say({ reason: 'never echo' })}; exit 2`;
    const { sent, outcome } = await talk(turns, [
      { event: 'PreToolUse', matcher: 'Echo', command: deny },
      { event: 'PostToolUse', command: 'touch ran' },
    ]);
    const content = 'A hook denied this call of Echo: never echo';
    expect(sent[1]?.at(-1)).toEqual({ role: 'user', toolResults: [{ toolUseId: 'id-Echo', content, isError: true }] });
    expect(outcome.valueJson).toBe('"ok"');
  });

  it('runs a tool with the input that a hook gave, and tells hooks and model what came of it (H-18)', async () => {
    const turns = [call('Echo', { a: 1 }), text('ok')];
    const { sent, read, report } = await talk(turns, [
      { event: 'PreToolUse', command: say({ hookSpecificOutput: { updatedInput: { a: 2 } } }) },
      { event: 'PostToolUse', command: `cat > seen.json; ${say({ decision: 'block', reason: 'lint failed' })}` },
    ]);
    expect(sent[1]?.at(-1)?.role === 'user' && sent[1]?.at(-1)).toMatchObject({
      toolResults: [{ content: '{"a":2}\n\nA hook says: lint failed', isError: false }],
    });
    const seen = { tool_input: { a: 2 }, tool_response: { content: '{"a":2}', is_error: false } };
    expect(JSON.parse(read('seen.json'))).toMatchObject(seen);
    expect(report.rows).toContainEqual(expect.objectContaining({ type: 'note', input: { a: 2 } }));
  });

  it('begins with what a hook adds to the task (H-18)', async () => {
    const start = say({ hookSpecificOutput: { additionalContext: 'Mind the gap.' } });
    const { sent, report } = await talk([text('ok')], [{ event: 'SubagentStart', command: start }]);
    expect(sent[0]).toEqual([{ role: 'user', text: 'GO\n\nMind the gap.' }]);
    expect(report.rows[0]).toEqual({ type: 'user', text: 'GO\n\nMind the gap.' });
  });

  it('goes on with the reason of a hook that holds its answer back, which then knows (H-18)', async () => {
    const command = 'cat >> seen; if [ -e once ]; then exit 0; fi; touch once; echo "add a title" >&2; exit 2';
    const { sent, outcome, read } = await talk([text('first'), text('second')], [{ event: 'SubagentStop', command }]);
    expect(outcome.valueJson).toBe('"second"');
    expect(sent[1]?.slice(1)).toEqual([
      { role: 'assistant', blocks: [{ type: 'text', text: 'first' }] },
      { role: 'user', text: 'add a title' },
    ]);
    const seen = read('seen').replaceAll('}{', '}\n{').split('\n');
    expect(seen.map((line) => JSON.parse(line))).toMatchObject([
      { last_assistant_message: 'first', stop_hook_active: false },
      { last_assistant_message: 'second', stop_hook_active: true },
    ]);
  });

  it('takes a structured answer back as the error of its call, with as many tries again (H-18)', async () => {
    const command = 'if [ -e once ]; then exit 0; fi; touch once; echo "too small" >&2; exit 2';
    const turns = [
      call('StructuredOutput', { n: 1 }),
      call('StructuredOutput', { n: 'x' }),
      call('StructuredOutput', { n: 9 }),
    ];
    const { sent, outcome } = await talk(turns, [{ event: 'SubagentStop', command }], {
      output: numberContract,
      maxStructuredOutputRetries: 2,
    });
    expect(outcome).toMatchObject({ valueJson: '{"n":9}', attempts: 3 });
    expect(sent[1]?.at(-1)).toMatchObject({ toolResults: [{ content: 'too small', isError: true }] });
  });

  it('lets an answer stand that hooks hold back again and again (H-18)', async () => {
    const { sent, outcome, report } = await talk([text('same')], [{ event: 'SubagentStop', command: 'exit 2' }]);
    expect(outcome.valueJson).toBe('"same"');
    expect(sent).toHaveLength(11);
    expect(report.warnings).toEqual([
      expect.stringMatching(/held back the answer of "a label" once more, after 10 times/),
    ]);
  });

  it('lets an answer stand when no message is left for another (H-18)', async () => {
    const { outcome, report } = await talk([text('only')], [{ event: 'SubagentStop', command: 'exit 2' }], {
      options: { maxTurns: 1 },
    });
    expect(outcome.valueJson).toBe('"only"');
    expect(report.warnings).toEqual([expect.stringMatching(/no message left/)]);
  });

  it('waits until its transcript is on the disk before SubagentStop is told (H-19)', async () => {
    const order: string[] = [];
    const report = new FakeReporter();
    const saved = Object.assign(report, {
      transcriptSaved: async () => void order.push(`saved ${report.rows.map(({ type }) => type)}`),
    });
    const hooks: Pick<Hooks, 'has' | 'subagentStop'> = {
      has: (event: HookEvent) => event === 'SubagentStop',
      subagentStop: async () => {
        order.push('told');
        return { block: undefined };
      },
    };
    const { signal } = new AbortController();
    const turns = { send: () => text('ok') };
    await converse({ request: agentRequest('GO'), signal, report: saved, turns, tools: [], hooks: hooks as Hooks });
    expect(order).toEqual(['saved user,assistant', 'told']);
  });
});
