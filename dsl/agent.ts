import type { Calls } from './calls.ts';
import type { Outbox } from './outbox.ts';
import { isArray, isBlank, ownKeys, rejected, stringifyJson, wellFormed } from './primordials.ts';
import { frameOf, phaseOf, scopeOf, type Workflow } from './scope.ts';

export type Agent = (prompt: unknown, opts?: unknown) => Promise<unknown>;

/**
 * Makes `agent(prompt, opts?)` of one workflow (S-9).
 *
 * Contract: always gives a promise of the guest; every error is a rejection.
 *
 * Replay: recorded by the host under the content of the call.
 */
export function createAgent(workflow: Workflow, calls: Calls, outbox: Outbox): Agent {
  return {
    agent(prompt: unknown, opts?: unknown): Promise<unknown> {
      let text: string;
      let optsJson: string | null;
      try {
        text = promptText(prompt);
        optsJson = optionsJson(opts);
      } catch (error) {
        return rejected(error);
      }
      const frame = frameOf(workflow);
      return calls.open((id) =>
        outbox.push(['agent', id, text, optsJson, scopeOf(frame), phaseOf(frame), workflow.name]),
      );
    },
  }.agent;
}

function promptText(prompt: unknown): string {
  let text: string | undefined;
  switch (typeof prompt) {
    case 'string':
      text = prompt;
      break;
    case 'number':
    case 'boolean':
    case 'bigint':
      text = String(prompt);
      break;
    case 'object':
      text = prompt === null ? undefined : stringifyJson(prompt);
      break;
    default:
      break;
  }
  if (typeof text !== 'string') {
    const got = prompt === null ? 'null' : typeof prompt;
    throw new TypeError(`agent() needs a prompt, and got ${got}. Give it the text of the task.`);
  }
  if (isBlank(text)) throw new TypeError('agent() needs a prompt, and got a blank one. Give it the text of the task.');
  return wellFormed(text);
}

function optionsJson(opts: unknown): string | null {
  if (opts === undefined || opts === null) return null;
  if (typeof opts !== 'object' || isArray(opts)) {
    const got = isArray(opts) ? 'an array' : typeof opts;
    throw new TypeError(`agent() takes its options as an object, and got ${got}. Write agent(prompt, { label: '…' }).`);
  }
  const json = jsonOf(withoutFunctions(opts as Record<string, unknown>));
  if (typeof json !== 'string') throw new TypeError('The options of agent() cannot be written as JSON.');
  return json;
}

/** A schema that contains itself, or a bigint, is refused in words that name the call. */
function jsonOf(opts: Record<string, unknown>): unknown {
  try {
    return stringifyJson(opts);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`The options of agent() cannot be written as JSON: ${error.message}`);
  }
}

/** JSON drops functions silently: a schema given as one would be no schema at all. As text the host can refuse it. */
function withoutFunctions(opts: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of ownKeys(opts)) {
    if (typeof key !== 'string') continue;
    const value = opts[key];
    if (typeof value !== 'function' && typeof value !== 'symbol') continue;
    copy ??= { ...opts };
    copy[key] = `[${typeof value}]`;
  }
  return copy ?? opts;
}
