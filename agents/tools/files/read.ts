import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { z } from 'zod';
import { CUT_REACH, type Cuts } from '../../cuts.ts';
import { defineTool, type ToolContext, type ToolOutput } from '../agent-tool.ts';
import { KEY_LINE, PrivateKeyLines } from '../private-key-lines.ts';
import { looksBinary, PROBE_BYTES } from './binary-probe.ts';
import { type BoundedLine, boundedLines } from './bounded-lines.ts';
import { fileStamp } from './text-file.ts';
import { resolveInWorkspace, type WorkspacePath } from './workspace.ts';

const DEFAULT_LINES = 2_000;
const MAX_LINE_CHARS = 2_000;
const MAX_OUTPUT_CHARS = 100_000;

/** Reads a text file of the working directory, with line numbers. Read only. */
export const readTool = defineTool({
  name: 'Read',
  description: `Reads a text file of the working directory. Every line is given as its number, a tab and its text. At most ${DEFAULT_LINES} lines come back unless a limit is given; use offset to read further.`,
  access: 'read',
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, absolute or as seen from the working directory'),
    offset: z.int().min(1).optional().describe('Line to start at, from 1'),
    limit: z.int().min(1).optional().describe('How many lines to read'),
  }),
  async subject({ file_path }, cwd) {
    const { relative, asGiven } = await resolveInWorkspace(cwd, file_path);
    return { path: relative, alias: asGiven };
  },
  async run({ file_path, offset = 1, limit = DEFAULT_LINES }, context) {
    const { cwd, session } = context;
    const file = session.kept.has(file_path)
      ? { absolute: file_path, relative: file_path, asGiven: file_path }
      : await resolveInWorkspace(cwd, file_path);
    const facts = await stat(file.absolute);
    if (facts.isDirectory()) return failed(`${file.relative} is a directory. Use Glob to list files.`);
    if (!facts.isFile()) return failed(`${file.relative} is no regular file.`);
    session.seen.set(file.absolute, await fileStamp(file.absolute));
    if (facts.size === 0) return { text: `[${file.relative} is empty]`, isError: false };
    if (await startsBinary(file)) return failed(`${file.relative} is a binary file of ${facts.size} bytes.`);
    return readLines(file, offset, limit, context);
  },
});

async function readLines(
  file: WorkspacePath,
  offset: number,
  limit: number,
  { signal, session }: ToolContext,
): Promise<ToolOutput> {
  const stream = createReadStream(file.absolute, { encoding: 'utf8', signal });
  const lines: string[] = [];
  let number = 0;
  let chars = 0;
  let rest = false;
  const keys = new PrivateKeyLines();
  let beginsInKey = false;
  try {
    for await (const line of boundedLines(stream, MAX_LINE_CHARS + CUT_REACH)) {
      number += 1;
      const isInKey = keys.isInside(line.text);
      if (number < offset) continue;
      beginsInKey = isInKey && (beginsInKey || number === offset);
      if (lines.length === limit || chars > MAX_OUTPUT_CHARS) {
        rest = true;
        break;
      }
      const shown = `${number}\t${beginsInKey ? KEY_LINE : shorten(line, session.cuts)}`;
      chars += shown.length;
      lines.push(shown);
    }
  } finally {
    stream.destroy();
  }
  if (lines.length === 0) return failed(`${file.relative} has ${number} lines; line ${offset} is past its end.`);
  if (rest) lines.push(`[there is more; read on with offset ${number}]`);
  return { text: lines.join('\n'), isError: false, summary: `read ${file.relative}` };
}

function shorten({ text, length }: BoundedLine, cuts: Cuts): string {
  return length <= MAX_LINE_CHARS ? text : `${cuts.slice(text, 0, MAX_LINE_CHARS)} [line cut, ${length} characters]`;
}

async function startsBinary(file: WorkspacePath): Promise<boolean> {
  const handle = await open(file.absolute);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(PROBE_BYTES) });
    return looksBinary(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function failed(text: string): ToolOutput {
  return { text, isError: true };
}
