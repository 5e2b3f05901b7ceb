import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stdioOutputSchema } from '../../protocol/stdio-output.ts';

export const WF_PROGRAM = fileURLToPath(new URL('../../bin/wf.mjs', import.meta.url));

export type Line = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly subtype?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  readonly [field: string]: any;
};

/** A working directory, a home and a state of its own. */
export interface Room {
  readonly root: string;
  readonly cwd: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file into the working directory and gives its path. */
  put(name: string, content: unknown): string;
  /** Starts the host. */
  host(...argv: readonly string[]): StdioClient;
  remove(): void;
}

/** A client of the stdio host that checks every line it reads. */
export interface StdioClient {
  readonly child: ChildProcess;
  readonly lines: readonly Line[];
  readonly stderr: () => string;
  send(...messages: readonly unknown[]): void;
  raw(text: string | Uint8Array): void;
  say(text: string, more?: object): void;
  control(requestId: string, request: object): void;
  /** Resolves with the first line that fits, past or to come; rejects when the host ends without one. */
  until(fits: (line: Line) => boolean): Promise<Line>;
  /** The answer to a control request. */
  answer(requestId: string): Promise<Line>;
  result(count?: number): Promise<Line>;
  closeInput(): void;
  /** Stops and starts reading the host's output. */
  pause(): void;
  resume(): void;
  readonly exit: Promise<number | string | null>;
}

export function makeRoom(env: Readonly<Record<string, string>> = {}): Room {
  const root = mkdtempSync(join(tmpdir(), 'wf-stdio-'));
  const cwd = join(root, 'work');
  const home = join(root, 'home');
  mkdirSync(cwd);
  mkdirSync(home);
  const clients: StdioClient[] = [];
  const whole = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1', ...env };
  return {
    root,
    cwd,
    state: join(home, '.wf'),
    env: whole,
    put(name, content) {
      const file = join(cwd, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
    host(...argv) {
      const child = spawn(
        process.execPath,
        [WF_PROGRAM, '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json', ...argv],
        { cwd, env: whole, stdio: ['pipe', 'pipe', 'pipe'] },
      );
      const client = connect(child);
      clients.push(client);
      return client;
    },
    remove() {
      for (const { child } of clients) if (child.exitCode === null) child.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

interface Waiter {
  fits(line: Line): boolean;
  resolve(line: Line): void;
  reject(error: Error): void;
}

function connect(child: ChildProcess): StdioClient {
  const lines: Line[] = [];
  let waiters: Waiter[] = [];
  let rest = '';
  let stderr = '';
  let ended = false;
  child.stdin?.on('error', () => {});
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) take(stdioOutputSchema.parse(JSON.parse(part)) as Line);
  });
  const take = (line: Line): void => {
    lines.push(line);
    waiters = waiters.filter((waiter) => {
      if (!waiter.fits(line)) return true;
      waiter.resolve(line);
      return false;
    });
  };
  const exit = new Promise<number | string | null>((resolve) => {
    child.on('close', (code, signal) => {
      ended = true;
      for (const { reject } of waiters) reject(gone());
      resolve(signal ?? code);
    });
  });
  const gone = (): Error =>
    new Error(`the host ended first; it wrote ${JSON.stringify(lines.slice(-3))} and ${JSON.stringify(stderr)}`);
  const raw = (text: string | Uint8Array): void => void child.stdin?.write(text);
  const send = (...messages: readonly unknown[]): void =>
    raw(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  const until = (fits: (line: Line) => boolean): Promise<Line> => {
    const found = lines.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    if (ended) return Promise.reject(gone());
    return new Promise((resolve, reject) => {
      waiters.push({ fits, resolve, reject });
    });
  };
  return {
    child,
    lines,
    stderr: () => stderr,
    raw,
    send,
    say: (text, more = {}) => send({ type: 'user', message: { role: 'user', content: text }, ...more }),
    control: (requestId, request) => send({ type: 'control_request', request_id: requestId, request }),
    until,
    answer: (requestId) =>
      until((line) => line.type === 'control_response' && line['response'].request_id === requestId),
    result: (count = 1) => {
      const results = (): readonly Line[] => lines.filter(({ type }) => type === 'result');
      return until(() => results().length >= count).then(() => results()[count - 1] as Line);
    },
    closeInput: () => void child.stdin?.end(),
    pause: () => void child.stdout?.pause(),
    resume: () => void child.stdout?.resume(),
    exit,
  };
}

/** `type` or `type/subtype` of each line, runs of the same one once. */
export function kinds(lines: readonly Line[]): readonly string[] {
  const all = lines.map(({ type, subtype }) => (type === 'system' ? `system/${subtype}` : type));
  return all.filter((kind, at) => kind !== all[at - 1]);
}
