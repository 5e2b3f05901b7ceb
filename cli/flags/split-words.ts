import { InvalidArgumentError } from 'commander';

/**
 * Splits a command into its words, as a shell would that expands nothing: white space separates, quotes of both kinds and
 * the backslash hold together.
 */
export function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  const pattern = /(\s+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let end = 0;
  for (const [whole, space, single, double, escaped, plain] of text.matchAll(pattern)) {
    end += whole.length;
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word = (word ?? '') + (single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain ?? '');
  }
  if (end < text.length) throw new InvalidArgumentError('A quote in it is not closed.');
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new InvalidArgumentError('It takes a command and its arguments.');
  return words;
}
