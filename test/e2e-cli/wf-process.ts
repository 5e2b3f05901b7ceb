import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/wf.mjs', import.meta.url));

export interface Ended {
  /** Exit code, or the name of the signal. */
  readonly exit: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `wf` that runs. */
export interface WfProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** A place of its own for runs of the built `wf`: working directory, home and state. */
export interface Place {
  readonly root: string;
  readonly state: string;
  /** Writes a file into the working directory and gives its path. */
  put(name: string, content: unknown): string;
  start(...argv: readonly string[]): WfProcess;
  run(...argv: readonly string[]): Promise<Ended>;
  /** Runs a shell command in which `wf` is the program. */
  shell(command: string): Promise<Ended>;
  runIds(): readonly string[];
  /** Rows of the journal of the only run. */
  journal(): readonly { readonly type: string }[];
  /** Resolves once the only run has so many journal rows of a type. */
  until(type: string, count: number): Promise<void>;
  remove(): void;
}

export function makePlace(env: Readonly<Record<string, string>> = {}): Place {
  const root = mkdtempSync(join(tmpdir(), 'wf-e2e-'));
  const work = join(root, 'work');
  const state = join(root, 'home/.wf');
  const children: ChildProcess[] = [];
  mkdirSync(work);
  mkdirSync(join(root, 'home'));

  const launch = (program: string, argv: readonly string[]): WfProcess => {
    const child = spawn(program, argv, {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: join(root, 'home'), LANG: 'C.UTF-8', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return { child, ended: collect(child) };
  };
  const runIds = (): readonly string[] => {
    try {
      return readdirSync(join(state, 'runs'));
    } catch {
      return [];
    }
  };
  const journal = (): readonly { readonly type: string }[] => {
    const [runId] = runIds();
    if (runId === undefined) return [];
    try {
      const text = readFileSync(join(state, 'runs', runId, 'journal.jsonl'), 'utf8');
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  };
  return {
    root,
    state,
    runIds,
    journal,
    put(name, content) {
      const file = join(work, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
    start: (...argv) => launch(process.execPath, [PROGRAM, ...argv]),
    run: (...argv) => launch(process.execPath, [PROGRAM, ...argv]).ended,
    shell: (command) => launch('sh', ['-c', `wf() { '${process.execPath}' '${PROGRAM}' "$@"; }\n${command}`]).ended,
    async until(type, count) {
      while (journal().filter((row) => row.type === type).length < count) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    remove() {
      for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function collect(child: ChildProcess): Promise<Ended> {
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

/** A script with a valid head. */
export function script(body: string): string {
  return `export const meta = { name: 'e2e', description: 'a test' }\n${body}\n`;
}
