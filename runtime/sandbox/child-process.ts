import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findNativeModule } from './native-module.ts';

export interface SpawnOptions {
  /** Further flags for the process's Node, for example of a debugger. */
  readonly spawnFlags?: readonly string[];
}

/**
 * Starts the sandbox process.
 *
 * What it may do: read its own code and the native module, and talk on its pipes. It has no environment to read secrets
 * from; a zone and a locale are set so that dates and numbers look the same everywhere (S-20).
 */
export function startChildProcess(options: SpawnOptions): ChildProcess {
  const { file: nativeModule } = findNativeModule();
  const { entry, readable, flags } = childEntry();
  return spawn(
    process.execPath,
    [
      // isolated-vm's README asks for it on Node 20 and later: the engine shares read-only heap between isolates of one
      // process, and crashes, on some machines, when they come from different snapshots (laverdet/isolated-vm#420). It
      // costs some 40 ms of start, which run while the parent reads and parses the script.
      '--no-node-snapshot',
      '--permission',
      '--allow-addons',
      '--disable-warning=SecurityWarning',
      ...[nativeModule, ...readable].map((path) => `--allow-fs-read=${path}`),
      ...flags,
      ...(options.spawnFlags ?? []),
      entry,
      nativeModule,
    ],
    { stdio: ['pipe', 'pipe', 'ignore'], env: childEnvironment(), windowsHide: true },
  );
}

/** From source, TypeScript that Node runs as it is; from a build, the one file beside the bundle. */
function childEntry(): { entry: string; readable: readonly string[]; flags: readonly string[] } {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) {
    const entry = fileURLToPath(new URL('./sandbox-child.cjs', here));
    return { entry, readable: [entry], flags: [] };
  }
  const root = fileURLToPath(new URL('../..', here));
  return {
    entry: fileURLToPath(new URL('./child/main.ts', here)),
    readable: [`${root}runtime/*`, `${root}dsl/*`, `${root}package.json`],
    flags: ['--disable-warning=ExperimentalWarning'],
  };
}

function childEnvironment(): NodeJS.ProcessEnv {
  const fixed = { TZ: 'UTC', LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' };
  // Windows does not start a process without it.
  // biome-ignore lint/style/noProcessEnv: the one variable that is passed on, and no secret.
  return process.platform === 'win32' ? { ...fixed, SystemRoot: process.env.SystemRoot } : fixed;
}
