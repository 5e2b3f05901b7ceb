import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startChildProcess } from '../../runtime/sandbox/child-process.ts';

/** Runs code of Node in a process started as the sandbox is, before the sandbox's own code, and gives what it says. */
async function inSandboxProcess(code: string): Promise<unknown> {
  const source = `import fs from 'node:fs'; import { createRequire } from 'node:module';
    const say = (value) => { fs.writeSync(1, JSON.stringify(value ?? null)); process.kill(process.pid, 'SIGKILL') };
    try { say(await (async () => { ${code} })()) } catch (error) { say('refused ' + error.code) }`;
  const child = startChildProcess({ spawnFlags: [`--import=data:text/javascript,${encodeURIComponent(source)}`] });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}

describe('a sandbox process that was taken over still has nothing (S-20, S-31)', () => {
  it('has no environment but zone and locale', async () => {
    process.env.WF_TEST_SECRET = 'must-not-be-seen';
    try {
      const seen = (await inSandboxProcess('return process.env')) as Record<string, string>;
      expect(Object.keys(seen).sort()).toEqual(['LANG', 'LC_ALL', 'TZ']);
    } finally {
      delete process.env.WF_TEST_SECRET;
    }
  });

  it('reads no file but its own code', async () => {
    expect(await inSandboxProcess('return fs.readFileSync("/etc/passwd", "utf8")')).toBe('refused ERR_ACCESS_DENIED');
  });

  it('writes no file', async () => {
    expect(await inSandboxProcess('fs.writeFileSync("/tmp/wf-escape", "x"); return "written"')).toBe(
      'refused ERR_ACCESS_DENIED',
    );
  });

  it('lists no folder', async () => {
    expect(await inSandboxProcess('return fs.readdirSync("/")')).toBe('refused ERR_ACCESS_DENIED');
  });

  it('starts no process', async () => {
    const code = 'return (await import("node:child_process")).execFileSync("/bin/true")';
    expect(await inSandboxProcess(code)).toBe('refused ERR_ACCESS_DENIED');
  });

  it('starts no thread', async () => {
    const code = 'new (await import("node:worker_threads")).Worker("1", { eval: true }); return "started"';
    expect(await inSandboxProcess(code)).toBe('refused ERR_ACCESS_DENIED');
  });

  it('has no descriptors but its pipes', async () => {
    const code = `const open = []; for (let fd = 3; fd < 100; fd++) { try { const s = fs.fstatSync(fd); if (s.isFile() || s.isDirectory()) open.push(fd) } catch {} } return open`;
    expect(await inSandboxProcess(code)).toEqual([]);
  });
});
