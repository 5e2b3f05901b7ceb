import { z } from 'zod';
import { defineTool, type ToolContext, type ToolOutput } from '../agent-tool.ts';
import { withFileLock } from './file-lock.ts';
import { replaceFile } from './replace-file.ts';
import { fileStamp, readTextFile } from './text-file.ts';
import { resolveForWriting, type WorkspacePath } from './workspace.ts';

/** Makes a file of the working directory, or replaces one the agent knows. */
export const writeTool = defineTool({
  name: 'Write',
  description:
    'Writes a whole file, and makes the directories it needs. A file that exists must have been read first, so that nothing unknown is lost; to change a part of it use Edit.',
  access: 'edit',
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, absolute or as seen from the working directory'),
    content: z.string().describe('All of its text'),
  }),
  async subject({ file_path }, cwd) {
    const { relative, asGiven } = await resolveForWriting(cwd, file_path);
    return { path: relative, alias: asGiven };
  },
  async run({ file_path, content }, context) {
    const file = await resolveForWriting(context.cwd, file_path);
    return withFileLock(file.absolute, () => write(file, content, context));
  },
});

async function write(file: WorkspacePath, content: string, { signal, session }: ToolContext): Promise<ToolOutput> {
  signal.throwIfAborted();
  const before = await readTextFile(file);
  if (before !== undefined && before.text !== '') {
    const seen = session.seen.get(file.absolute);
    if (seen === undefined)
      return failed(`${file.relative} exists. Read it before you replace it, or change it with Edit.`);
    if (seen !== before.stamp) return failed(`${file.relative} has changed since you read it. Read it again.`);
  }
  const text = content.toWellFormed();
  await replaceFile(file.absolute, text, before?.stamp, signal);
  session.seen.set(file.absolute, await fileStamp(file.absolute));
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  const how = before === undefined ? 'made' : 'replaced';
  return {
    text: `${file.relative} ${how}: ${lines} line${lines === 1 ? '' : 's'}, ${Buffer.byteLength(text)} bytes.`,
    isError: false,
    summary: `${before === undefined ? 'wrote' : 'replaced'} ${file.relative}`,
  };
}

function failed(text: string): ToolOutput {
  return { text, isError: true };
}
