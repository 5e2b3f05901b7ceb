import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';

/** `wf completion`: prints a script that completes commands and their options, made from the command tree. */
export async function completionCommand(
  context: CliContext,
  program: Command,
  shell: 'bash' | 'zsh' | 'fish',
): Promise<number> {
  context.stdout.write(completionScript(wordsOf(program), shell));
  return 0;
}

interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly { readonly flag: string; readonly text: string }[];
}

/** Reads what can be typed off the command tree; hidden commands and options are left out. */
function wordsOf(program: Command): readonly CommandWords[] {
  const help = program.createHelp();
  return help
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map((command) => ({
      name: command.name(),
      summary: command.summary() || command.description(),
      options: help
        .visibleOptions(command)
        .flatMap(({ long, description }) => (long == null ? [] : [{ flag: long, text: description }])),
    }));
}

function completionScript(commands: readonly CommandWords[], shell: 'bash' | 'zsh' | 'fish'): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
    case 'fish':
      return fishScript(commands);
  }
}

function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(
    ({ name, options }) => `    ${name}) words="${options.map(({ flag }) => flag).join(' ')}" ;;`,
  );
  return `# Completes wf. Regenerate it after an update.
_wf() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _wf wf
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ name, summary, options }) => [
    `complete -c wf -n __fish_use_subcommand -a ${name} -d ${fishQuote(summary)}`,
    ...options.map(
      ({ flag, text }) =>
        `complete -c wf -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d ${fishQuote(text)}`,
    ),
  ]);
  return `# Completes wf. Regenerate it after an update.\n${lines.join('\n')}\n`;
}

function fishQuote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
