/** Longest pattern taken; keeps its translation small. */
const MAX_PATTERN = 1_000;

/**
 * Translates a glob into a regular expression for a linear-time engine: `*`, `**`, `?`, `[abc]`, `[!abc]`, `{a,b}` and
 * `\` before any of them. Hidden files match like others.
 *
 * @throws Error when the pattern is too long or a bracket or brace is left open
 */
export function globToRegex(glob: string): string {
  if (glob.length > MAX_PATTERN)
    throw new Error(`The pattern has ${glob.length} characters; ${MAX_PATTERN} are the most.`);
  const pattern = glob.replace(/^\.\//, '');
  let regex = '';
  let braces = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (pattern.startsWith('**/', at) && atSegmentStart(pattern, at)) {
      regex += '(?:[^/]*/)*';
      at += 2;
    } else if (char === '*') {
      const deep = pattern.charAt(at + 1) === '*';
      regex += deep ? '.*' : '[^/]*';
      if (deep) at += 1;
    } else if (char === '?') regex += '[^/]';
    else if (char === '[') {
      const end = classEnd(pattern, at);
      regex += classRegex(pattern.slice(at + 1, end));
      at = end;
    } else if (char === '{') {
      braces += 1;
      regex += '(?:';
    } else if (char === '}' && braces > 0) {
      braces -= 1;
      regex += ')';
    } else if (char === ',' && braces > 0) regex += '|';
    else if (char === '\\' && at + 1 < pattern.length) {
      at += 1;
      regex += escapeRegex(pattern.charAt(at));
    } else regex += escapeRegex(char);
  }
  if (braces > 0) throw new Error('The pattern has a { without its }.');
  return `^${regex}$`;
}

function atSegmentStart(pattern: string, at: number): boolean {
  return at === 0 || '/{,'.includes(pattern.charAt(at - 1));
}

function classEnd(pattern: string, start: number): number {
  const first = /[!^]/.test(pattern.charAt(start + 1)) ? start + 2 : start + 1;
  const end = pattern.indexOf(']', first + 1);
  if (end < 0) throw new Error('The pattern has a [ without its ].');
  return end;
}

function classRegex(inside: string): string {
  const negated = /^[!^]/.test(inside);
  const set = (negated ? inside.slice(1) : inside).replace(/[\\[\]^]/g, '\\$&');
  return negated ? `[^/${set}]` : `[${set}]`;
}

function escapeRegex(char: string): string {
  return /[\\^$.*+?()[\]{}|]/.test(char) ? `\\${char}` : char;
}
