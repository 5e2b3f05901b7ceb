import { WorkflowError } from '../../../protocol/workflow-error.ts';
import { globToRegex } from '../files/glob-pattern.ts';

/** A rule of `--allow-tools` or `--deny-tools`, such as `Read`, `Edit(src/**)`, `Bash(git status:*)` or `mcp__docs__*`. */
export type PermissionRule =
  | { readonly kind: 'tool'; readonly text: string; readonly name: RegExp }
  | {
      readonly kind: 'path';
      readonly text: string;
      /** Every tool that reads, or every tool that changes files. */
      readonly access: 'read' | 'edit';
      /** Linear-time regular expression of the paths. */
      readonly pattern: string;
    }
  | {
      readonly kind: 'command';
      readonly text: string;
      readonly words: readonly string[];
      /** Further words may follow. */
      readonly open: boolean;
    };

const RULE = /^([A-Za-z*][\w*.-]*)(?:\(([\s\S]*)\))?$/;

export function isPermissionRule(given: string): boolean {
  try {
    parsePermissionRule(given);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads one rule.
 *
 * @throws WorkflowError `USAGE_INVALID` when it cannot mean anything
 */
export function parsePermissionRule(given: string): PermissionRule {
  const text = given.trim();
  const [, name, inside] = RULE.exec(text) ?? [];
  if (name === undefined) {
    throw invalid(text, 'it is no name of a tool; write for example Read, Edit(src/**) or "Bash(git status:*)"');
  }
  const what = inside?.trim();
  if (what === undefined || what === '*' || what === '**') return { kind: 'tool', text, name: nameRegex(name) };
  if (what === '') throw invalid(text, `there is nothing between its brackets; write ${name} for all of it`);
  switch (name) {
    case 'Bash':
      return commandRule(text, what);
    case 'Read':
    case 'Edit':
      return pathRule(text, name === 'Read' ? 'read' : 'edit', what);
    case 'Glob':
    case 'Grep':
      throw invalid(text, `paths of all tools that read are bounded with Read(${what})`);
    case 'Write':
      throw invalid(text, `paths of all tools that change files are bounded with Edit(${what})`);
    default:
      throw invalid(text, `only Bash, Read and Edit take brackets; write ${name} for the tool as a whole`);
  }
}

/** Splits a list of rules at its commas and white space, but not inside brackets. */
export function splitPermissionRules(list: string): readonly string[] {
  const rules: string[] = [];
  let rule = '';
  let depth = 0;
  for (const char of list) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth > 0 || !/[\s,]/.test(char)) rule += char;
    else {
      rules.push(rule);
      rule = '';
    }
  }
  return [...rules, rule].filter((each) => each !== '');
}

function nameRegex(name: string): RegExp {
  return new RegExp(`^${name.split('*').map(escapeRegex).join('.*')}$`);
}

function commandRule(text: string, what: string): PermissionRule {
  const open = /(?::\*|\s\*)$/.test(what);
  const words = what
    .replace(/(?::\*|\s\*)$/, '')
    .trim()
    .split(/\s+/);
  if (words.some((word) => word.includes('*') || word === '')) {
    throw invalid(text, 'a * may only end it, as in Bash(git status:*)');
  }
  return { kind: 'command', text, words, open };
}

/** As in a `.gitignore`: a pattern without a slash holds at any depth, and one for a directory holds for all below it. */
function pathRule(text: string, access: 'read' | 'edit', what: string): PermissionRule {
  if (/^[/~]/.test(what) || what.split('/').includes('..')) {
    throw invalid(text, 'paths are as seen from the working directory of the agent, which no tool leaves');
  }
  const bare = what.replace(/^\.\//, '').replace(/\/+$/, '');
  const glob = bare.includes('/') ? bare : `**/${bare}`;
  try {
    return { kind: 'path', text, access, pattern: globToRegex(glob).replace(/\$$/, '(?:/.*)?$') };
  } catch (error) {
    throw invalid(text, error instanceof Error ? error.message : String(error));
  }
}

function invalid(rule: string, why: string): WorkflowError {
  return new WorkflowError('USAGE_INVALID', `the permission rule "${rule}" cannot be used: ${why}`);
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
