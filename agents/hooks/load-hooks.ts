import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { projectFolders } from '../project-folders.ts';
import type { HookSettings, HookSource } from './hook-settings.ts';
import type { Hooks } from './hooks.ts';

export interface LoadHooksOptions {
  /** Working directory of the agents; absolute. */
  readonly cwd: string;
  readonly homeDirectory: string;
  /** Environment of the hook processes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** JSON, or the path of a file that holds it, as `--settings` takes them. */
  readonly settings?: string | undefined;
  /** Directories of plugins, whose `hooks/hooks.json` counts. */
  readonly pluginDirectories?: readonly string[];
  readonly session?: { readonly sessionId: string; readonly transcriptPath?: string };
  readonly permissionMode?: string | undefined;
  /** Told, in a sentence, of each part of the settings that cannot be used. */
  onProblem?(text: string): void;
}

const USER_FILES = ['.claude/settings.json', '.codebuddy/settings.json', '.wf/settings.json'];
const PROJECT_FILES = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.codebuddy/settings.json',
  '.codebuddy/settings.local.json',
  '.wf/settings.json',
];

/** A settings text that names hooks or switches them off has one of these words. */
const MENTIONS_HOOKS = /"hooks"|"disableAllHooks"/;

/**
 * Reads the hooks that hold in a working directory: those of the user, of the project (from its root, where `.git` is,
 * down to the working directory), of `settings`, and of plugins. They add up. Gives undefined when there are none, or when
 * any of the settings says `"disableAllHooks": true`, so that a run without hooks pays for a few look-ups of files alone.
 *
 * Never rejects.
 */
export async function loadHooks(options: LoadHooksOptions): Promise<Hooks | undefined> {
  const { cwd, homeDirectory, pluginDirectories = [] } = options;
  const folders = await projectFolders(cwd);
  const files = [
    ...USER_FILES.map((file) => join(homeDirectory, file)),
    ...folders.flatMap((folder) => PROJECT_FILES.map((file) => join(folder, file))),
  ];
  const texts = await Promise.all([
    ...[...new Set(files)].map((name) => settingsText({ name })),
    givenSettings(options),
    ...pluginDirectories.map((pluginDirectory) =>
      settingsText({ name: join(pluginDirectory, 'hooks/hooks.json'), pluginDirectory }),
    ),
  ]);
  const mentioned = texts.filter((found) => found !== undefined && MENTIONS_HOOKS.test(found.text));
  if (mentioned.length === 0) return undefined;
  const { readHookSettings } = await import('./hook-settings.ts');
  const settings = mentioned.map((found) => readHookSettings(found?.text ?? '', found?.source ?? { name: '' }));
  return hooksOf(settings, folders[0] ?? cwd, options);
}

async function hooksOf(
  settings: readonly HookSettings[],
  projectDirectory: string,
  options: LoadHooksOptions,
): Promise<Hooks | undefined> {
  if (settings.some(({ disableAll }) => disableAll)) return undefined;
  for (const problem of settings.flatMap(({ problems }) => problems)) options.onProblem?.(problem);
  if (settings.every(({ commands }) => commands.size === 0)) return undefined;
  const { env, session, permissionMode } = options;
  const { createHooks } = await import('./create-hooks.ts');
  return createHooks({
    settings,
    env,
    projectDirectory,
    permissionMode,
    ...(session === undefined ? {} : { session }),
  });
}

interface FoundSettings {
  readonly text: string;
  readonly source: HookSource;
}

async function settingsText(source: HookSource): Promise<FoundSettings | undefined> {
  const text = await readFile(source.name, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : { text, source };
}

async function givenSettings({ settings, cwd, onProblem }: LoadHooksOptions): Promise<FoundSettings | undefined> {
  if (settings === undefined) return undefined;
  if (settings.trimStart().startsWith('{')) return { text: settings, source: { name: 'the given settings' } };
  const name = resolve(cwd, settings);
  const found = await settingsText({ name });
  if (found === undefined) onProblem?.(`The settings file ${name} cannot be read, so it is left out.`);
  return found;
}
