import { constants } from 'node:fs';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { nodeDisk } from '../../cache/disk.ts';
import { makePrivateDirectory } from '../../cache/private-directory.ts';
import { findKillSwitch } from '../../hosts/saved-workflows/kill-switch.ts';
import { spawnSandbox } from '../../runtime/sandbox/spawn-sandbox.ts';
import { parseScript } from '../../runtime/script/parse-script.ts';
import type { CliContext } from '../cli-context.ts';
import { hasKey } from '../launch/choose-backend.ts';
import { textTable } from '../output/text-table.ts';
import { stateRoot } from '../state/state-root.ts';

/** One thing that was looked at. `exitCode` is that of the run which would fail for it. */
interface Check {
  readonly name: string;
  readonly status: 'ok' | 'note' | 'failed';
  readonly text: string;
  readonly exitCode?: number;
}

const OLDEST_NODE = 24;
const MIB = 1024 * 1024;
/** A run takes about 150 MiB, and its script up to 256 more. */
const ENOUGH_MIB = 512;

/** `wf doctor`: checks what wf needs of this machine. Ends with 0, or with the exit code that a run would have. */
export async function doctorCommand(
  context: CliContext,
  flags: { readonly stateDir?: string; readonly json?: boolean },
): Promise<number> {
  const checks = [
    checkNode(process.versions.node),
    await checkSandbox(),
    await checkState(stateRoot(context, flags)),
    checkKey(context.env),
    await checkMemory(),
    await checkBash(context.env),
    checkSwitch(context),
  ];
  const failed = checks.find((check) => check.status === 'failed');
  if (flags.json === true) {
    const rows = checks.map(({ name, status, text }) => ({ name, status, text }));
    context.stdout.write(`${JSON.stringify({ ok: failed === undefined, checks: rows }, null, 2)}\n`);
  } else {
    context.stdout.write(textTable(checks.map(({ name, status, text }) => [status, name, text])));
  }
  return failed?.exitCode ?? 0;
}

function checkNode(version: string): Check {
  const major = Number(version.split('.')[0]);
  if (major >= OLDEST_NODE) return { name: 'Node.js', status: 'ok', text: version };
  return { name: 'Node.js', status: 'failed', text: `${version}; wf needs ${OLDEST_NODE} or newer`, exitCode: 69 };
}

/** Runs the smallest script in a real sandbox, which loads `isolated-vm`. */
async function checkSandbox(): Promise<Check> {
  const name = 'sandbox';
  const began = performance.now();
  const sandbox = spawnSandbox();
  const script = parseScript("export const meta = { name: 'doctor', description: 'a check' }\nreturn 1", {
    fileName: 'doctor.js',
  });
  const ignore = () => {};
  sandbox.run(
    { fileName: script.fileName, code: script.code, metaJson: JSON.stringify(script.meta), argsJson: undefined },
    { memoryLimitMb: 64, cpuLimitMs: 5_000, maxItems: 1, budgetTotal: null, maxDepth: 0 },
    { agent: ignore, workflow: ignore, phase: ignore, log: ignore, partFailed: ignore },
  );
  const end = await sandbox.end;
  sandbox.kill();
  if (end.type === 'returned' && end.valueJson === '1') {
    return { name, status: 'ok', text: `isolated-vm runs a script in ${Math.round(performance.now() - began)} ms` };
  }
  const why = 'message' in end ? end.message : end.type;
  return { name, status: 'failed', text: `a script did not run: ${why}`, exitCode: 70 };
}

async function checkState(root: string): Promise<Check> {
  const probe = join(root, `.doctor-${process.pid}`);
  try {
    // Not Node's recursive mkdir, which never returns where the parent refuses with ENOENT, as /proc does.
    await makePrivateDirectory(nodeDisk, root);
    await access(root, constants.W_OK | constants.X_OK);
    await writeFile(probe, 'x'.repeat(4096), { mode: 0o600 });
    await rm(probe);
    return { name: 'state', status: 'ok', text: `${root} can be written` };
  } catch (error) {
    return { name: 'state', status: 'failed', text: `${root}: ${(error as Error).message}`, exitCode: 74 };
  }
}

/** Says which variable holds a key, never the key. */
function checkKey(env: CliContext['env']): Check {
  const name = 'model';
  if (!hasKey(env)) {
    return { name, status: 'note', text: 'no ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN: agents are simulated' };
  }
  const variable = env['ANTHROPIC_API_KEY'] ? 'ANTHROPIC_API_KEY' : 'ANTHROPIC_AUTH_TOKEN';
  const place = env['ANTHROPIC_BASE_URL'] ? ', ANTHROPIC_BASE_URL is set' : '';
  return { name, status: 'ok', text: `${variable} is set${place}: agents are answered by anthropic` };
}

/** Tries the sandbox that Bash would run in. */
async function checkBash(env: CliContext['env']): Promise<Check> {
  const name = 'Bash';
  const { openCommandSandbox } = await import('../../agents/tools/shell/command-sandbox.ts');
  const state = await openCommandSandbox(env['PATH'] ?? '', []);
  if (state.kind === 'on') {
    await state.sandbox.close();
    return { name, status: 'ok', text: 'commands of agents run in the sandbox of the system' };
  }
  const text = `no sandbox of the system: ${state.why}; where Bash is allowed it runs without one`;
  return { name, status: 'note', text };
}

async function checkMemory(): Promise<Check> {
  const limits = await Promise.all(
    ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'].map((file) =>
      readFile(file, 'utf8').then(Number, () => Number.NaN),
    ),
  );
  const limit = limits.find((bytes) => bytes > 0 && bytes < totalmem());
  const bound = limit === undefined ? '' : `, the control group allows ${Math.round(limit / MIB)} MiB`;
  const text = `${Math.round(totalmem() / MIB)} MiB, ${Math.round(freemem() / MIB)} MiB free${bound}`;
  const isEnough = Math.min(totalmem(), limit ?? Number.POSITIVE_INFINITY) >= ENOUGH_MIB * MIB;
  return { name: 'memory', status: isEnough ? 'ok' : 'note', text: isEnough ? text : `${text}; that is little` };
}

function checkSwitch(context: CliContext): Check {
  const found = findKillSwitch(context);
  if (found === undefined) return { name: 'switch', status: 'ok', text: 'workflows are not switched off' };
  return { name: 'switch', status: 'failed', text: `workflows are switched off by ${found}`, exitCode: 69 };
}
