import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoom, type Room, WF_PROGRAM } from '../e2e-cli/stdio-client.ts';

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const PYTHON = spawnSync('python3', ['--version']).status === 0 ? ['python3'] : [];

let room: Room;
beforeEach(() => {
  room = makeRoom();
  room.put(
    '.wf/workflows/tea.js',
    `export const meta = { name: 'tea', description: 'Asks how to make tea', phases: [{ title: 'Ask' }] }
phase('Ask')
await parallel([1, 2].map((n) => () => agent('STEP ' + n, { label: 'step ' + n })))
return args.kind + ' tea'`,
  );
  room.put(
    '.wf/workflows/spilt.js',
    "export const meta = { name: 'spilt', description: 'fails' }\nthrow new Error('spilt')",
  );
});
afterEach(() => room.remove());

async function run(program: string, ...argv: readonly string[]) {
  const options = { cwd: room.cwd, env: { ...room.env, WF: `${process.execPath} ${WF_PROGRAM}` } };
  try {
    return { code: 0, ...(await promisify(execFile)(program, argv, options)) };
  } catch (error) {
    return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
  }
}

describe('programs that read the stream', () => {
  it('a consumer that replaces snapshots and waits for the notification shows every agent at its end (E-5, E-7, E-12)', async () => {
    const { code, stdout } = await run(process.execPath, example('12-stream-consumer.mjs'), 'tea', 'kind=green');
    expect([code, stdout]).toEqual([0, 'tea: completed\n  Ask / step 1: done\n  Ask / step 2: done\n']);
    expect(await run(process.execPath, example('12-stream-consumer.mjs'), 'spilt')).toMatchObject({
      code: 1,
      stdout: 'spilt: failed\n',
    });
    expect((await run(process.execPath, example('12-stream-consumer.mjs'), 'nosuch')).code).toBe(1);
  });

  it.each(PYTHON)('a script of the standard library runs a workflow with %s (H-6, H-7)', async (python) => {
    const { code, stdout, stderr } = await run(python, example('11-drive-from-python.py'), 'tea', '{"kind":"black"}');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^SIMULATED: Completed.*\n\nblack tea\n$/)]);
    expect(stderr).toContain('tea: 2 of 2 agents ended');
    expect(await run(python, example('11-drive-from-python.py'), 'spilt')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('spilt'),
    });
    expect((await run(python, example('11-drive-from-python.py'), 'nosuch')).stdout).toContain('WORKFLOW_UNKNOWN');
  });
});

describe('wf -p', () => {
  const wf = (...argv: readonly string[]) => run(process.execPath, WF_PROGRAM, ...argv);

  it('prints the result of a workflow as text or as one object, and its failure as an exit code (H-6)', async () => {
    expect(await wf('-p', '/tea kind=white')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n\nwhite tea\n$/),
    });
    const json = await wf('-p', '/tea kind=red', '--output-format', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      type: 'result',
      is_error: false,
      origin: { kind: 'task-notification' },
    });
    const failed = await wf('--print', '/spilt');
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('spilt')]);
    const stream = await wf('-p', '/tea kind=red', '--output-format', 'stream-json', '--verbose');
    const lines = stream.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([lines[0].subtype, lines.at(-1).type]).toEqual(['init', 'result']);
  });

  it.each([
    [['-p', 'x', '--input-format', 'stream-json', '--output-format', 'json'], 64, /stream-json goes with/],
    [['-p', 'x', '--output-format', 'xml'], 64, /xml/],
    [['-p', 'x', '--no-such-option'], 64, /--no-such-option/],
    [['-p', 'hello'], 1, /No model is configured/],
    [['-p', 'x', '--backend', 'scripted'], 64, /--responses/],
  ])('%j ends with %i and says why (H-6, C-7)', async (argv, code, why) => {
    const ended = await wf(...argv);
    expect([ended.code, `${ended.stdout}${ended.stderr}`]).toEqual([code, expect.stringMatching(why)]);
  });
});
