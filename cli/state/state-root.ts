import { join, resolve } from 'node:path';

/** What the choice depends on; a command's context serves. */
export interface StateRootInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDirectory: string;
}

/** `~/.wf`: where runs are kept when nobody says otherwise. */
export function defaultStateRoot(homeDirectory: string): string {
  return join(homeDirectory, '.wf');
}

/** Gives the absolute path of the state directory: `--state-dir`, else `WF_HOME`, else `~/.wf`. Source: spec C-9. */
export function stateRoot(
  { env, cwd, homeDirectory }: StateRootInput,
  flags: { readonly stateDir?: string | undefined },
): string {
  const chosen = flags.stateDir ?? (env['WF_HOME'] || undefined);
  return chosen === undefined ? defaultStateRoot(homeDirectory) : resolve(cwd, chosen);
}
