import { describe, expect, it } from 'vitest';
import { BrokenStreamError, MessageReader } from '../../../../agents/anthropic/message-reader.ts';

const START = '{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}';
const END = '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}';
const STOP = '{"type":"message_stop"}';
const open = (index: unknown, block: unknown = { type: 'text', text: '' }): string =>
  JSON.stringify({ type: 'content_block_start', index, content_block: block });
const say = (index: unknown, text?: unknown): string =>
  JSON.stringify({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } });

function read(...events: readonly string[]): MessageReader {
  const reader = new MessageReader();
  for (const data of events) reader.take('event', data);
  return reader;
}

describe('a message that is read from its events', () => {
  it('holds its blocks in the order of their numbers, however far these are apart (A-13)', () => {
    const { blocks, usage } = read(
      START,
      open(4_294_967_290),
      say(4_294_967_290, 'last'),
      open(0),
      say(0, 'first'),
      END,
    );
    expect(blocks).toEqual([
      { type: 'text', text: 'first' },
      { type: 'text', text: 'last' },
    ]);
    expect(usage).toEqual({ inputTokens: 5, outputTokens: 7 });
  });

  it.each([
    ['a number', [open('__proto__')]],
    ['a whole number', [open(1.5)]],
    ['a type', [open(0, null)]],
    ['the name of its tool', [open(0, { type: 'tool_use', id: 'a' })]],
    ['a text in its piece', [open(0), say(0)]],
    ['a start', [say(0, 'x')]],
  ])('is broken, and so asked for again, by a block without %s (A-13)', (_what, events) => {
    expect(() => read(START, ...events)).toThrow(BrokenStreamError);
  });

  it.each([
    '{"type":"message_start"}',
    '{"type":"message_start","message":{"usage":{"input_tokens":1e400,"output_tokens":"12"}}}',
    '{"type":"message_start","message":{"usage":{"input_tokens":-5,"output_tokens":0.5}}}',
  ])('counts %s as no tokens (A-16)', (start) => {
    const end = '{"type":"message_delta","usage":{"output_tokens":1e999}}';
    expect(read(start, open(0), say(0, 'x'), end, STOP).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  it('ends with message_stop, whatever comes after it (A-2)', () => {
    expect(read(START, open(0), say(0, 'one'), END, STOP, START, open(0), say(0, 'two'), '{').blocks).toEqual([
      { type: 'text', text: 'one' },
    ]);
  });

  it('is broken when it never stops growing (A-13)', () => {
    const reader = read(START, open(0));
    const piece = say(0, 'x'.repeat(8 * 1024 * 1024));
    expect(() => {
      for (let count = 0; count < 9; count++) reader.take('event', piece);
    }).toThrow('64 MiB');
  });
});
