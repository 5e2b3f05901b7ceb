import { describe, expect, it } from 'vitest';
import { converse, DEFAULT_MAX_TURNS } from '../../../agents/conversation.ts';
import type { ConversationMessage, ModelTurns, Turn } from '../../../agents/model-turns.ts';
import type { AgentTool } from '../../../agents/tools/agent-tool.ts';
import type { AgentRequest } from '../../../runtime/ports.ts';
import { agentRequest, numberContract } from '../../support/agent-request.ts';
import { settle } from '../../support/fake-clock.ts';
import { FakeReporter } from '../../support/fake-reporter.ts';

const usage = { inputTokens: 1, outputTokens: 2 };

/** Gives the turns one by one, the last for ever, and keeps what it was sent. */
function turnsOf(...turns: readonly Turn[]): ModelTurns & { readonly sent: ConversationMessage[][] } {
  const sent: ConversationMessage[][] = [];
  return {
    sent,
    send(history) {
      sent.push([...history]);
      return turns[Math.min(sent.length, turns.length) - 1] as Turn;
    },
  };
}

function text(value: string, stopReason = 'end_turn'): Turn {
  return { type: 'message', blocks: [{ type: 'text', text: value }], stopReason, usage };
}

function call(name: string, rawInput = '{}'): Turn {
  return {
    type: 'message',
    blocks: [{ type: 'tool_use', id: `id-${name}`, name, rawInput }],
    stopReason: 'tool_use',
    usage,
  };
}

function run(turns: ModelTurns, changes: Partial<AgentRequest> = {}, tools: readonly AgentTool[] = []) {
  const report = new FakeReporter();
  const controller = new AbortController();
  const running = converse({ request: agentRequest('GO', changes), signal: controller.signal, report, turns, tools });
  running.catch(() => {});
  return { running, report, controller };
}

function toolNamed(name: string, work: AgentTool['run']): AgentTool {
  return { name, description: '', inputSchema: { type: 'object' }, run: work };
}

describe('a conversation', () => {
  it('sends the same history again after a transient failure (A-13)', async () => {
    const turns = turnsOf({ type: 'transient', failure: { message: 'busy' } }, text('ok'));
    const { running, report } = run(turns);
    await expect(running).resolves.toMatchObject({ valueJson: '"ok"', usage });
    expect(turns.sent[1]).toEqual(turns.sent[0]);
    expect(report.rows.map(({ type }) => type)).toEqual(['user', 'error', 'assistant']);
  });

  it('hands blocks it does not know back as they came, in their place', async () => {
    const thinking = { type: 'opaque', block: { type: 'thinking', thinking: 'hm', signature: 's' } } as const;
    const first = call('Launch');
    if (first.type !== 'message') throw new Error('unreachable');
    const turns = turnsOf({ ...first, blocks: [thinking, ...first.blocks] }, text('ok'));
    await run(turns).running;
    expect(turns.sent[1]?.[1]).toEqual({ role: 'assistant', blocks: [thinking, ...first.blocks] });
  });

  it('keeps empty texts out of the history, which the API would refuse', async () => {
    const turns = turnsOf(text('\n'), call(' '), text('ok'));
    await run(turns).running;
    const blocks = turns.sent.at(-1)?.flatMap((message) => (message.role === 'assistant' ? message.blocks : []));
    expect(blocks?.filter((block) => block.type === 'text')).toEqual([]);
    expect(turns.sent[1]).toEqual(turns.sent[0]);
  });

  it('answers the calls of a message in their order, however long each takes (A-25)', async () => {
    const blocks = ['Slow', 'Quick'].map((name) => ({ type: 'tool_use', id: name, name, rawInput: '{}' }) as const);
    const turns = turnsOf({ type: 'message', blocks, stopReason: 'tool_use', usage }, text('ok'));
    const order: string[] = [];
    const tool = (name: string, work: () => Promise<void>) =>
      toolNamed(name, async () => {
        await work();
        order.push(name);
        return { text: name, isError: false };
      });
    const tools = [tool('Slow', settle), tool('Quick', () => Promise.resolve())];
    await run(turns, {}, tools).running;
    expect(order).toEqual(['Quick', 'Slow']);
    expect(turns.sent[1]?.[2]?.role).toBe('user');
    expect(turns.sent[1]?.[2]).toMatchObject({ toolResults: [{ toolUseId: 'Slow' }, { toolUseId: 'Quick' }] });
  });

  it('rejects at once when it is aborted while a tool hangs (A-18)', async () => {
    const tools = [toolNamed('Hang', () => new Promise(() => {}))];
    const { running, controller } = run(turnsOf(call('Hang')), {}, tools);
    await settle();
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
  });

  it('gives an agent that never stops calling tools an end', async () => {
    const turns = turnsOf(call('Launch'));
    await expect(run(turns).running).rejects.toMatchObject({
      code: 'AGENT_MAX_TURNS',
      data: { maxTurns: DEFAULT_MAX_TURNS },
    });
    expect(turns.sent).toHaveLength(DEFAULT_MAX_TURNS);
  });

  it('turns what a tool throws into a result for the model', async () => {
    const tools = [
      toolNamed('Break', () => {
        throw new Error('no such thing');
      }),
    ];
    const { running, report } = run(turnsOf(call('Break'), text('ok')), {}, tools);
    await running;
    expect(report.rows).toContainEqual(
      expect.objectContaining({ content: 'Break failed: no such thing', isError: true }),
    );
  });

  it('nudges once in all, also when an invalid call came in between (A-5)', async () => {
    const turns = turnsOf(text('a'), call('StructuredOutput', '{"n":"x"}'), text('b'));
    await expect(run(turns, { output: numberContract }).running).rejects.toMatchObject({
      code: 'AGENT_NO_OUTPUT',
      data: { lastText: 'b' },
    });
  });

  it('takes StructuredOutput for an unknown tool when the call has no schema', async () => {
    const { running, report } = run(turnsOf(call('StructuredOutput'), text('ok')));
    await expect(running).resolves.toMatchObject({ valueJson: '"ok"', attempts: 0 });
    expect(report.rows).toContainEqual(expect.objectContaining({ type: 'tool_result', isError: true }));
  });

  it('bounds the raw answer that an error carries', async () => {
    const turns = turnsOf(call('StructuredOutput', `{"n":"${'x'.repeat(200_000)}"}`));
    const rejected = (await run(turns, { output: numberContract }).running.catch((error: unknown) => error)) as {
      data: { lastText: string };
    };
    expect(rejected.data.lastText.length).toBe(65_536);
  });

  it('writes the end of an agent that failed into its transcript (A-31)', async () => {
    const { running, report } = run(turnsOf(text('no', 'refusal')));
    await running.catch(() => {});
    expect(report.rows.at(-1)).toMatchObject({ type: 'error', code: 'AGENT_API' });
  });

  it('tells an attempt that follows one that died what it may find (A-15)', async () => {
    const first = turnsOf(text('ok'));
    await run(first).running;
    const second = turnsOf(text('ok'));
    await run(second, { attempt: 2 }).running;
    expect(first.sent[0]).toEqual([{ role: 'user', text: 'GO' }]);
    expect(second.sent[0]).toEqual([
      { role: 'user', text: expect.stringMatching(/^GO\n\n.*earlier attempt.*\n?.*Files/s) },
    ]);
  });
});
