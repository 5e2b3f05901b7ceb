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

/** Built as text, so that no key and no number is changed. */
function pairs(rest: string): string | undefined {
  const members = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (let at = 0; at < rest.length; at = PAIR.lastIndex) {
    const groups = PAIR.exec(rest)?.groups;
    if (groups === undefined) return undefined;
    const { key = '', quoted, value = '' } = groups;
    const quotedJson = quoted === undefined ? undefined : `"${quoted}"`;
    if (quotedJson !== undefined) members.set(key, isJson(quotedJson) ? quotedJson : JSON.stringify(quoted));
    else members.set(key, isJson(value) ? value : JSON.stringify(value));
  }
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
