import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MID_WRITE = fileURLToPath(new URL('../kill/kill-mid-write.mjs', import.meta.url));

/** A copy of the built `wf`, so that a build meanwhile does not change what is tested. */
export interface BuiltWf {
  readonly program: string;
  remove(): void;
}

/** @throws Error when there is no build */
export function copyBuiltWf(): BuiltWf {
  if (!existsSync(join(ROOT, 'dist/wf.js'))) throw new Error('there is no build: node tools/build.mjs --js');
  const folder = mkdtempSync(join(tmpdir(), 'wf-built-'));
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return { program: join(folder, 'bin/wf.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface WfEnd {
  /** Exit code, or the name of the signal. */
  readonly exit: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningWf {
  readonly child: ChildProcess;
  readonly ended: Promise<WfEnd>;
  /** SIGKILL for the process that runs the workflow, its sandbox, or both and whatever else they started. */
  kill(whom: 'runner' | 'sandbox' | 'group'): void;
}

export interface WfLaunch {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly apiUrl: string;
  /** `part of a path:number of the write`, see `kill-mid-write.mjs`. */
  readonly killAtWrite?: string | undefined;
}

/** Starts a `wf` in a process group of its own. */
export function startWf({ program, argv, cwd, apiUrl, killAtWrite }: WfLaunch): RunningWf {
  const preload = killAtWrite === undefined ? [] : ['--import', MID_WRITE];
  const child = spawn(process.execPath, [...preload, program, ...argv], {
    cwd,
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: apiUrl,
      ANTHROPIC_API_KEY: 'stand-in',
      ...(killAtWrite === undefined ? {} : { WF_KILL_AT_WRITE: killAtWrite }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: endOf(child), kill: (whom) => kill(child.pid as number, whom) };
}

function kill(pid: number, whom: 'runner' | 'sandbox' | 'group'): void {
  const targets = whom === 'runner' ? [pid] : whom === 'group' ? [-pid] : childrenOf(pid);
  for (const target of targets) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function endOf(child: ChildProcess): Promise<WfEnd> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ exit: signal ?? code, stdout, stderr }));
  });
}
