/** A plain name, or several with `|` between them. */
const PLAIN_NAMES = /^[\w-]+(\s*[|,]\s*[\w-]+)*$/;

/**
 * Tells whether a hook is meant for a subject: a tool's name, an agent's type, a source or a reason. No matcher, an empty
 * one and `*` take all; plain names, with `|` between them, take those alone; anything else is a regular expression that
 * must fit the whole subject, as `mcp__.*` does.
 *
 * @throws SyntaxError when the matcher is no regular expression
 */
export function matchesHook(matcher: string | undefined, subject: string): boolean {
  const pattern = matcher?.trim() ?? '';
  if (pattern === '' || pattern === '*') return true;
  if (PLAIN_NAMES.test(pattern)) return pattern.split(/[|,]/).some((name) => name.trim() === subject);
  return new RegExp(`^(?:${pattern})$`).test(subject);
}
