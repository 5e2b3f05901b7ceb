import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTaskNotification, type TaskNotificationParts } from '../../../emitters/task-notification.ts';
import { NO_AGENTS } from '../../../protocol/nothing-used.ts';

const parts = (over: Partial<TaskNotificationParts> = {}): TaskNotificationParts => ({
  taskId: 'task-1',
  toolUseId: 'toolu_1',
  outputFile: '/state/output.json',
  summary: 'Completed',
  output: {
    status: 'completed',
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, tool_uses: 4, duration_ms: 5 },
    census: { ...NO_AGENTS, agent_count: 2, agents_done: 1, agents_error: 1 },
    failures: [{ label: 'one', code: 'AGENT_API', message: '400' }],
    logs: [],
    limits_hit: [],
  },
  resultJson: '"the answer"',
  recovery: { tool: 'Workflow', input: { scriptPath: '/a & b/<x>.js', resumeFromRunId: 'wf_00000001-abc' } },
  ...over,
});

/** Names of the tags in a text, in order; throws where they do not nest. */
function readTags(text: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  for (const [, slash, name = ''] of text.matchAll(/<(\/?)([^<>]*)>/g)) {
    if (slash === '') {
      names.push(name);
      open.push(name);
    } else if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
  }
  if (open.length > 0) throw new Error(`<${open.join('> <')}> is not closed`);
  return names;
}

const TAGS = [
  ...['task-notification', 'task-id', 'tool-use-id', 'output-file', 'status', 'summary', 'result', 'diagnostics'],
  ...['failures', 'recovery', 'usage', 'agent_count', 'agents_done', 'agents_error', 'agents_skipped'],
  ...['agents_cached', 'agents_cancelled', 'agents_empty_result', 'subagent_tokens', 'tool_uses', 'duration_ms'],
];

describe('the notification for the model', () => {
  it('has every tag, with the census in usage (E-16, A-19)', () => {
    const text = renderTaskNotification(parts({ diagnostics: ['a warning'] }));
    expect(readTags(text)).toEqual(TAGS);
    expect(text).toContain('<result>the answer</result>');
    expect(text).toContain('<agent_count>2</agent_count><agents_done>1</agents_done><agents_error>1</agents_error>');
    expect(text).toContain('one: 400 [AGENT_API]');
  });

  it('cannot be forged by any text of scripts and agents (E-16)', () => {
    const attack = fc
      .array(
        fc.oneof(
          fc.constantFrom('</result>', '<status>', '</task-notification>', '&lt;', ']]>', '<!--', '\u0000', '\n', '"'),
          fc.constantFrom(...TAGS.map((name) => `</${name}>`)),
          fc.string({ unit: 'binary', maxLength: 8 }),
        ),
        { maxLength: 12 },
      )
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(attack, fc.boolean(), (text, structured) => {
        const value = structured ? { [text]: [text] } : text;
        const rendered = renderTaskNotification(
          parts({
            summary: text,
            outputFile: text,
            resultJson: JSON.stringify(value),
            diagnostics: [text],
            output: {
              ...parts().output,
              status: 'failed',
              error: { code: 'SCRIPT_THREW', message: text },
              failures: [{ label: text, code: text, message: text }],
            },
            recovery: { tool: 'Workflow', input: { scriptPath: text } },
          }),
        );
        expect(readTags(rendered)).toEqual(TAGS);
        expect(rendered).not.toMatch(/[^\P{Cc}\t\n]/u);
        expect(rendered.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('cuts the result at 8,000 characters, between characters, and points to the file (E-16)', () => {
    const text = renderTaskNotification(parts({ resultJson: JSON.stringify('\u{1F600}'.repeat(9000)) }));
    expect(text).toContain(
      `${'\u{1F600}'.repeat(8000)}\n… [cut after 8000 of 9000 characters; the whole result is in /state/output.json]`,
    );
    expect(text).not.toContain('\u{1F600}'.repeat(8001));
  });

  it('lists at most 20 failures and says how many more there are (E-16)', () => {
    const failures = Array.from({ length: 50 }, (_, at) => ({ label: `f${at}`, code: 'AGENT_API', message: 'm' }));
    const text = renderTaskNotification(parts({ output: { ...parts().output, failures } }));
    expect(text).toContain('f19: m');
    expect(text).not.toContain('f20: m');
    expect(text).toContain('… and 30 more; all are in /state/output.json');
  });

  it('gives a resume call without controls, those included that JSON leaves as they are (E-16)', () => {
    const scriptPath = '/a\u007f\u0085\u009b.js';
    const text = renderTaskNotification(parts({ recovery: { tool: 'Workflow', input: { scriptPath } } }));
    const [, input = ''] = /<recovery>Workflow\((.*)\)<\/recovery>/.exec(text) ?? [];
    expect(input).toBe('{"scriptPath":"/a\\u007f\\u0085\\u009b.js"}');
    expect(JSON.parse(input)).toEqual({ scriptPath });
  });

  it('gives a resume call that works as printed (E-16)', () => {
    const text = renderTaskNotification(parts());
    const [, input = ''] = /<recovery>Workflow\((.*)\)<\/recovery>/.exec(text) ?? [];
    expect(JSON.parse(input)).toEqual({ scriptPath: '/a & b/<x>.js', resumeFromRunId: 'wf_00000001-abc' });
    const command = "wf resume wf_00000001-abc --state-dir '/a & b'";
    expect(renderTaskNotification(parts({ recovery: { command } }))).toContain(`<recovery>${command}</recovery>`);
  });

  it('calls a killed run stopped, and leaves out what is not there (E-7)', () => {
    const { recovery, ...rest } = parts({ toolUseId: undefined, resultJson: undefined });
    const text = renderTaskNotification({ ...rest, output: { ...rest.output, status: 'killed', failures: [] } });
    expect(text).toContain('<status>stopped</status>');
    expect(readTags(text)).not.toContain('result');
    expect(readTags(text)).not.toContain('recovery');
    expect(recovery).toBeDefined();
  });

  it('says when the agents were simulated (A-24)', () => {
    const text = renderTaskNotification(parts({ output: { ...parts().output, simulated: true } }));
    expect(text).toContain('SIMULATED: no model answered');
  });
});
