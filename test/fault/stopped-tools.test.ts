import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentTool } from '../../agents/tools/agent-tool.ts';
import { editTool } from '../../agents/tools/files/edit.ts';
import { writeTool } from '../../agents/tools/files/write.ts';
import { bashTool } from '../../agents/tools/shell/bash.ts';
import { processesWith } from '../support/living-processes.ts';
import { toolContext } from '../support/tool-context.ts';

const OLD = 'old '.repeat(5_000);
const NEW = 'new '.repeat(5_000);
/** After how many turns of the event loop an agent is stopped: each of the first, then ever fewer. */
const TURNS = Array.from({ length: 70 }, (_, n) => (n < 25 ? n : Math.round(25 * 1.12 ** (n - 25))));

let cwd = '';
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'wf-stop-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** Runs a tool and stops its agent after some turns of the event loop; tells whether the tool was through before. */
async function stopAfter(turns: number, tool: AgentTool, input: object): Promise<boolean> {
  const stop = new AbortController();
  const context = toolContext(cwd, { signal: stop.signal });
  let through = false;
  const running = context.session
    .run(() => tool.run(input, context))
    .then(
      () => {
        through = true;
      },
      () => {},
    );
  for (let turn = 0; turn < turns && !through; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const wasThrough = through;
  stop.abort(new Error('stopped'));
  await context.session.close();
  await running;
  const { name, value } = context.session.mark;
  if (tool === bashTool) expect(await processesWith(`${name}=${value}`), `after ${turns} turns`).toEqual([]);
  return wasThrough;
}

describe('a tool that is stopped at any step', () => {
  it.each([
    ['Edit', editTool, { file_path: 'a.txt', old_string: OLD, new_string: NEW }, [OLD, NEW]],
    ['Write', writeTool, { file_path: 'deep/new.txt', content: NEW }, [undefined, NEW]],
  ] as const)(
    'leaves the whole old or the whole new file and nothing beside it: %s (A-18, A-25)',
    async (_, tool, input, texts) => {
      const file = path.join(cwd, input.file_path);
      const seen = new Set<string | undefined>();
      for (const turns of TURNS) {
        await rm(path.join(cwd, 'deep'), { recursive: true, force: true });
        if (texts[0] !== undefined) await writeFile(file, texts[0]);
        const wasThrough = await stopAfter(turns, tool, input);
        const text = await readFile(file, 'utf8').catch(() => undefined);
        expect(texts.includes(text as never), `after ${turns} turns`).toBe(true);
        seen.add(text);
        const names = await readdir(cwd, { recursive: true });
        expect(names.filter((name) => name.includes('.wf-write-'))).toEqual([]);
        if (wasThrough) break;
      }
      expect([...seen].filter((text) => text === NEW)).toHaveLength(1);
      expect(seen.size).toBe(2);
    },
  );

  it.each([
    ['in the foreground', {}],
    ['in the background', { run_in_background: true }],
  ])('leaves no process: Bash %s (A-18)', async (_, more) => {
    await mkdir(path.join(cwd, 'sub'));
    for (const turns of [0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 100, 200]) {
      await stopAfter(turns, bashTool, { command: 'cd sub; sleep 60 & sleep 60', ...more });
    }
    expect(await readdir(cwd)).toEqual(['sub']);
  });
});
