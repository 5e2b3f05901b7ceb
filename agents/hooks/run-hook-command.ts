import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { GroupGuardian } from '../process/group-guardian.ts';
import type { HookProcessEnd } from './read-hook-output.ts';

export interface HookRun {
  /** For a shell. */
  readonly command: string;
  /** JSON for standard input. */
  readonly payload: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly guardian: GroupGuardian;
}

export type HookRunResult =
  | ({ readonly type: 'ended' } & HookProcessEnd)
  | { readonly type: 'timed-out' }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly message: string };

/** Bytes of a stream that are kept; the rest is read and dropped. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** How long output may still come after the process has ended, when a child of it keeps the pipe open. */
const DRAIN_MS = 100;
/** Between the request to end and the end by force. */
const KILL_AFTER_MS = 1_000;

/**
 * Runs one hook. Never rejects.
 *
 * Contract: on timeout and on abort the process of the hook alone is killed, and nothing is waited for but its own end:
 * children that it started live on, and may write into the pipes that they got (H-18).
 */
export function runHookCommand(run: HookRun): Promise<HookRunResult> {
  if (run.signal.aborted) return Promise.resolve({ type: 'aborted' });
  return new Promise((resolve) => {
    run.guardian.open();
    const child = spawn(run.command, {
      shell: true,
      cwd: run.cwd,
      env: run.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    guard(child, run.guardian);
    const stdout = keep(child.stdout);
    const stderr = keep(child.stderr);
    const settle = (result: HookRunResult): void => {
      clearTimeout(timer);
      run.signal.removeEventListener('abort', onAbort);
      letGo(child);
      resolve(result);
    };
    const timer = setTimeout(() => {
      kill(child);
      settle({ type: 'timed-out' });
    }, run.timeoutMs);
    const onAbort = (): void => {
      kill(child);
      settle({ type: 'aborted' });
    };
    run.signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', ({ message }) => settle({ type: 'failed', message }));
    child.on('exit', (exitCode) => {
      clearTimeout(timer);
      const end = (): void => settle({ type: 'ended', exitCode, stdout: stdout(), stderr: stderr() });
      const drained = setTimeout(end, DRAIN_MS);
      child.on('close', () => {
        clearTimeout(drained);
        end();
      });
    });
    child.stdin.on('error', () => {}); // a hook need not read its input
    child.stdin.end(run.payload);
  });
}

/** The process of the hook alone dies with this one: what it started lives on, as after a time limit. */
function guard(child: ChildProcess, guardian: GroupGuardian): void {
  const { pid } = child;
  if (pid === undefined) return;
  guardian.watchProcess(pid);
  child.once('exit', () => guardian.releaseProcess(pid));
}

/** Reads a stream to its end, so that no writer is held up, and keeps its first part. */
function keep(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < MAX_OUTPUT_BYTES) chunks.push(chunk.subarray(0, MAX_OUTPUT_BYTES - bytes));
    bytes += chunk.length;
  });
  stream.on('error', () => {});
  return () => Buffer.concat(chunks).toString('utf8');
}

function kill(child: ChildProcess): void {
  child.kill('SIGTERM');
  const byForce = (): void => void child.kill('SIGKILL');
  const force = setTimeout(byForce, KILL_AFTER_MS);
  process.once('exit', byForce); // the run may be over before the second is
  child.once('exit', () => {
    clearTimeout(force);
    process.removeListener('exit', byForce);
  });
}

/** Children of the hook may keep the pipes open; they must not keep this process from ending. */
function letGo(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    (stream as { unref?(): void } | null)?.unref?.();
  }
}
