import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toFileError } from '../../hosts/saved-workflows/read-text-file.ts';
import { argsFromPairs } from '../../protocol/args-json.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';

export interface ArgsFlags {
  /** Value of `--args`: JSON, or `@file`. */
  readonly args?: string | undefined;
  /** Values of `--arg`: `key=value`, value JSON or else text. */
  readonly arg?: readonly string[] | undefined;
}

/**
 * Gives the JSON text of a workflow's `args`; undefined when none were given. Source: spec C-1.
 *
 * @throws USAGE_INVALID for text that is not JSON, FILE_MISSING and FILE_UNREADABLE for `@file`.
 */
export async function readArgs(flags: ArgsFlags, cwd: string): Promise<string | undefined> {
  const pairs = flags.arg ?? [];
  if (flags.args === undefined) return pairs.length === 0 ? undefined : argsFromPairs(pairs.map(splitPair));
  if (pairs.length > 0) {
    throw new WorkflowError('USAGE_INVALID', 'both --args and --arg were given; put everything into one of them');
  }
  if (!flags.args.startsWith('@')) return checkedJson(flags.args, '--args');
  const path = resolve(cwd, flags.args.slice(1));
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw toFileError(error, path, 'the file of --args');
  });
  return checkedJson(text.startsWith('\uFEFF') ? text.slice(1) : text, `--args ${flags.args}`);
}

function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new WorkflowError('USAGE_INVALID', `--arg takes key=value, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function checkedJson(text: string, source: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `${source} is not JSON: ${(error as Error).message}. Quote it for the shell, ` +
        `for example --args '{"topic":"tea"}', or use --arg topic=tea or --args @file.json`,
    );
  }
}
