import { describe, expect, it } from 'vitest';
import { effortFor, resolveModel } from '../../../../agents/anthropic/models.ts';
import { type RequestFrame, requestBody } from '../../../../agents/anthropic/request-body.ts';
import type { ConversationMessage } from '../../../../agents/model-turns.ts';
import { subagentInstructions } from '../../../../agents/subagent-instructions.ts';
import { DEFAULT_TOOLS } from '../../../../agents/tools/default-tools.ts';
import { numberContract } from '../../../support/agent-request.ts';
import { refusal } from '../../../support/fake-messages-api.mjs';

const frame: RequestFrame = {
  model: 'm',
  maxTokens: 10,
  effort: undefined,
  system: 'system',
  tools: DEFAULT_TOOLS,
  output: numberContract,
};

const history: ConversationMessage[] = [
  { role: 'user', text: 'go' },
  {
    role: 'assistant',
    blocks: [
      { type: 'opaque', block: { type: 'thinking', thinking: 'hm', signature: 's' } },
      { type: 'tool_use', id: 'a', name: 'StructuredOutput', rawInput: '{"n":\\|}' },
      { type: 'tool_use', id: 'b', name: 'Read', rawInput: '{"file_path":"x"}' },
    ],
  },
  {
    role: 'user',
    toolResults: [
      { toolUseId: 'a', content: 'broken JSON', isError: true },
      { toolUseId: 'b', content: '', isError: false },
    ],
  },
];

describe('a Messages request', () => {
  it('is one that the API accepts, with broken calls and empty results in its history', () => {
    const body = requestBody(frame, history);
    expect(refusal(body)).toBeNull();
    expect(body.messages[1]?.content).toMatchObject([
      { type: 'thinking', signature: 's' },
      { type: 'tool_use', input: {} },
      { type: 'tool_use', input: { file_path: 'x' } },
    ]);
  });

  it('can be written although a call of its history is nested too deep to be written again (A-6, A-7)', () => {
    const deep = (levels: number): ConversationMessage => ({
      role: 'assistant',
      blocks: [{ type: 'tool_use', id: 'a', name: 'b', rawInput: `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}` }],
    });
    const inputs = [400, 100_000].map((levels) => JSON.stringify(requestBody(frame, [deep(levels)]).messages));
    expect(inputs.map((text) => text.includes('"input":{}'))).toEqual([false, true]);
  });

  it('marks what agents share for the cache, and a history only when it will be read again (A-25)', () => {
    const first = requestBody(frame, history.slice(0, 1));
    const marked = (items: unknown) => JSON.stringify(items).match(/cache_control/g)?.length ?? 0;
    expect([marked(first.tools), marked(first.system), marked(first.messages)]).toEqual([1, 1, 0]);
    expect(first.tools?.map((tool) => ('cache_control' in tool ? 'marked' : ''))).toEqual([
      ...frame.tools.slice(1).map(() => ''),
      'marked',
      '',
    ]);
    expect(marked(requestBody(frame, history).messages)).toBe(1);
    expect(marked(requestBody({ ...frame, output: undefined }, history.slice(0, 1)).tools)).toBe(0);
  });

  it('carries the effort, and nothing where none was asked for', () => {
    expect(requestBody({ ...frame, effort: 'low' }, history).output_config).toEqual({ effort: 'low' });
    expect('output_config' in requestBody(frame, history)).toBe(false);
  });
});

describe('a model', () => {
  it('is resolved from its alias, and passed through otherwise (A-25)', () => {
    expect(['haiku', 'sonnet', 'opus', 'constructor', 'claude-x'].map(resolveModel)).toEqual([
      'claude-haiku-5-5',
      'claude-sonnet-5-5',
      'claude-opus-5-5',
      'constructor',
      'claude-x',
    ]);
  });

  it('is asked for the highest effort it takes', () => {
    expect(effortFor('claude-opus-5-5', 'xhigh')).toBe('xhigh');
    expect(effortFor('claude-opus-4-5-20251101', 'max')).toBe('high');
    expect(effortFor('claude-sonnet-4-6', 'xhigh')).toBe('high');
    expect(effortFor('claude-haiku-4-5', 'low')).toBeUndefined();
  });
});

describe('the instructions of a subagent', () => {
  it('say what becomes of the answer, and put the role of its type last (A-21)', () => {
    expect(subagentInstructions(true, undefined)).toContain('calling the tool StructuredOutput');
    expect(subagentInstructions(false, 'Be strict.')).toMatch(
      /last message is handed to the script[\s\S]*Be strict\.$/,
    );
    expect(subagentInstructions(false, undefined)).not.toContain('StructuredOutput');
  });
});
