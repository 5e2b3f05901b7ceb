import path from 'node:path';
import { readShellCommand } from '../shell/shell-commands.ts';
import type { Deed } from './permission-modes.ts';

/** What can stand in a rule as it is. */
const PLAIN_WORD = /^[\w./@+-]+$/;
const SUBCOMMAND = /^[a-z][a-z0-9-]*$/;
const PLAIN_PATH = /^[\w./@ +-]+$/;

/**
 * Gives the narrowest rule of `--allow-tools` that would allow a call and others like it.
 *
 * @param isAllowed tells of the words of a command whether some rule allows it already
 */
export function suggestRule(
  name: string,
  about: { readonly deed: Deed | undefined; readonly path?: string; readonly command?: string },
  isAllowed: (words: readonly string[]) => boolean,
): string {
  const { deed, path: file, command } = about;
  if (command !== undefined) return commandRule(name, command, isAllowed);
  if (file === undefined || !PLAIN_PATH.test(file)) return name;
  if (deed === 'steer') return `Edit(${file})`;
  if (deed !== 'edit') return name;
  const directory = path.posix.dirname(file);
  return directory === '.' ? `Edit(${file})` : `Edit(${directory}/**)`;
}

function commandRule(name: string, command: string, isAllowed: (words: readonly string[]) => boolean): string {
  const reading = readShellCommand(command);
  if (!reading.plain) return name;
  const [program = '', next = ''] = reading.commands.find((words) => !isAllowed(words)) ?? [];
  if (!PLAIN_WORD.test(program)) return name;
  return SUBCOMMAND.test(next) ? `${name}(${program} ${next}:*)` : `${name}(${program}:*)`;
}
