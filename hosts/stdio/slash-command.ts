import { argsFromPairs, isJson } from '../../protocol/args-json.ts';

/** A message that names a saved workflow. */
export interface SlashCommand {
  readonly name: string;
  /** What stands behind the name, trimmed. */
  readonly rest: string;
}

/** Reads `/name …` off a message; undefined when it is none, such as a path or a sentence. */
export function parseSlashCommand(text: string): SlashCommand | undefined {
  const match = /^\/(?<name>[\p{L}\p{N}_][\p{L}\p{N}_.:-]*)(?:\s+(?<rest>[\s\S]*))?$/u.exec(text.trim());
  if (match?.groups === undefined) return undefined;
  return { name: match.groups['name'] ?? '', rest: (match.groups['rest'] ?? '').trim() };
}

const PAIR = /(?<key>[A-Za-z_$][\w$.-]*)=(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<value>\S*))(?:\s+|$)/y;

/**
 * Gives the JSON text of a workflow's `args`: what stands behind its name as JSON, else as `key=value` pairs (each value
 * JSON or else text, in quotes where it has spaces), else as one text. Undefined when nothing stands there. Source: H-7.
 */
export function slashArgs(rest: string): string | undefined {
  if (rest === '') return undefined;
  if (isJson(rest)) return rest;
  return pairs(rest) ?? JSON.stringify(rest);
}

function pairs(rest: string): string | undefined {
  const members: [string, string][] = [];
  PAIR.lastIndex = 0;
  for (let at = 0; at < rest.length; at = PAIR.lastIndex) {
    const groups = PAIR.exec(rest)?.groups;
    if (groups === undefined) return undefined;
    const { key = '', quoted, value = '' } = groups;
    members.push([key, quoted === undefined ? value : quotedText(quoted)]);
  }
  return argsFromPairs(members);
}

/** What stands in quotes is a string, with JSON's escapes where they are right. */
function quotedText(quoted: string): string {
  const json = `"${quoted}"`;
  return isJson(json) ? json : JSON.stringify(quoted);
}
