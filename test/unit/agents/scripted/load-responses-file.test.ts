import { describe, expect, it } from 'vitest';
import { loadResponsesFile } from '../../../../agents/scripted/load-responses-file.ts';
import { isWorkflowError } from '../../../../protocol/workflow-error.ts';

function messageOf(json: unknown): string {
  try {
    loadResponsesFile(typeof json === 'string' ? json : JSON.stringify(json), 'plan.json');
  } catch (error) {
    if (isWorkflowError(error) && error.code === 'USAGE_INVALID') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a responses file', () => {
  it('may hold every kind of turn (C-12)', () => {
    const reply = [
      { text: 'a', delayMs: 1, stop: 'max_tokens', usage: { input_tokens: 1, output_tokens: 2 } },
      { json: null },
      { raw: '{"broken' },
      { error: { status: 429, type: 'rate_limit_error', message: 'm', retryAfterMs: 5 } },
      { tool: { name: 'Read', input: { file_path: 'x' } } },
      { silentMs: 5 },
      { blocks: [{ text: 'a' }, { json: [1] }, { raw: '' }, { tool: { name: 'Glob' } }] },
      { cut: 'text', text: 'half' },
      { cut: true },
    ];
    const file = { rules: [{ match: null, label: 'l', times: 2, reply }], default: [{ text: 'd' }] };
    expect(loadResponsesFile(`\uFEFF${JSON.stringify(file)}`, 'plan.json')).toEqual(file);
    expect(messageOf({})).toBe('accepted');
  });

  it.each([
    [
      { rules: [{ match: '(', reply: [{ text: 'x' }] }] },
      /rules\[0\]\.match: no regular expression: .*Unterminated group/,
    ],
    [{ rules: [{ match: 'x' }] }, /rules\[0\]\.reply: /],
    [{ rules: [{ reply: [{ text: 'a' }, { txt: 'b' }] }] }, /rules\[0\]\.reply\[1\]: .*"?txt"?/],
    [
      { rules: [{ reply: [{ text: 'a', json: 1 }] }] },
      /rules\[0\]\.reply\[0\]: expected exactly one of .*found text and json/,
    ],
    [{ default: [{ delayMs: 5 }] }, /default\[0\]: expected exactly one of text, .*found none/],
    [{ default: [] }, /default: /],
    [{ default: [{ text: 5 }] }, /default\[0\]\.text: .*string/],
    [{ default: [{ blocks: [{ silentMs: 1 }] }] }, /default\[0\]\.blocks\[0\]: .*silentMs/],
    [{ rule: [] }, /the file: .*rule/],
    ['{"rules": [', /plan\.json cannot be used: it is no JSON/],
    [[], /the file: .*object/],
  ])('is refused with the place of what is wrong: %j (C-10)', (file, message) => {
    expect(messageOf(file)).toMatch(message);
  });
});
