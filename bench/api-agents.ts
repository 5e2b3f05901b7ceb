import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** CPU time of a process without its children, in milliseconds, from /proc (ticks of 10 ms). */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Runs `count` agents through `wf run` against a Messages API in a process of its own; its CPU is not counted. */
async function measure(count: number): Promise<{ cpuMsPerAgent: number; progressMb: number }> {
  const cwd = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const responses = join(cwd, 'responses.json');
  writeFileSync(responses, '{"default":[{"text":"a short answer"}]}');
  const api = spawn(process.execPath, [
    path('../test/support/fake-messages-api.mjs'),
    '--port',
    '0',
    '--responses',
    responses,
  ]);
  try {
    const listening = await new Promise<string>((resolve) => {
      api.stdout.once('data', (line: Buffer) =>
        resolve((JSON.parse(line.toString()) as { listening: string }).listening),
      );
    });
    writeFileSync(
      join(cwd, 'many.js'),
      `export const meta = { name: 'many', description: 'many agents' }\nreturn (await parallel(Array.from({ length: ${count} }, (_, i) => () => agent('item ' + i)))).filter(Boolean).length\n`,
    );
    const env = {
      PATH: process.env['PATH'],
      HOME: cwd,
      WF_HOME: join(cwd, 'state'),
      ANTHROPIC_BASE_URL: listening,
      ANTHROPIC_API_KEY: 'loopback',
    };
    const args = [path('../bin/wf.mjs'), 'run', 'many.js', '--backend', 'anthropic', '--output-format', 'stream-json'];
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let progressBytes = 0;
    let rest = '';
    let cpu = 0;
    let sandboxCpu = 0;
    const sample = (): void => {
      if (child.pid === undefined) return;
      try {
        for (const pid of childrenOf(child.pid)) sandboxCpu = Math.max(sandboxCpu, cpuMs(pid));
        cpu = Math.max(cpu, cpuMs(child.pid));
      } catch {
        // It has ended; the last sample stands.
      }
    };
    const sampler = setInterval(sample, 5);
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts)
        if (line.includes('"subtype":"task_progress"')) progressBytes += Buffer.byteLength(line) + 1;
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    clearInterval(sampler);
    if (code !== 0) throw new Error(`wf run exited ${code}`);
    return { cpuMsPerAgent: (cpu + sandboxCpu) / count, progressMb: progressBytes / 1e6 };
  } finally {
    api.kill();
    rmSync(cwd, { recursive: true, force: true });
  }
}

console.log(JSON.stringify(await measure(Number(process.argv[2] ?? 1000))));
