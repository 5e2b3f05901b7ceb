import { describe, expect, it } from 'vitest';
import { splitWords } from '../../../../cli/flags/split-words.ts';
import { shellQuote } from '../../../../hosts/workflow-tool/shell-quote.ts';

describe('the words of --agent-command', () => {
  it.each([
    ['claude', ['claude']],
    ['  my-cli --profile  work ', ['my-cli', '--profile', 'work']],
    [`'/opt/my cli/run' "a \\"b\\" \\c" d\\ e ''`, ['/opt/my cli/run', 'a "b" \\c', 'd e', '']],
    [`a'b'"c"`, ['abc']],
  ])('%s are split as a shell does (C-1)', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it.each(['', '   ', "my-cli 'open", 'my-cli "open', 'my-cli \\'])('%j is refused (C-10)', (text) => {
    expect(() => splitWords(text)).toThrow(/It takes a command|not closed/);
  });

  it('come back whole from the printed resume command (C-6)', () => {
    const words = ['/opt/my cli', `it's`, '--x="1"', '$HOME'];
    expect(splitWords(words.map(shellQuote).join(' '))).toEqual(words);
  });
});
