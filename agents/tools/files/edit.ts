import { z } from 'zod';
import type { Cuts } from '../../cuts.ts';
import { defineTool, type ToolContext, type ToolOutput } from '../agent-tool.ts';
import { KEY_LINE, PrivateKeyLines } from '../private-key-lines.ts';
import { withFileLock } from './file-lock.ts';
import { planEdit } from './plan-edit.ts';
import { replaceFile } from './replace-file.ts';
import { fileStamp, readTextFile } from './text-file.ts';
import { resolveForWriting, type WorkspacePath } from './workspace.ts';

/** Lines shown around a change, before and after it. */
const CONTEXT_LINES = 3;
const MOST_LINES_SHOWN = 40;
const LONGEST_LINE_SHOWN = 500;
const LONGEST_NEAR_TEXT = 600;
const MOST_PLACES_NAMED = 50;

const editInput = z.object({
  file_path: z.string().min(1).describe('Path of the file, absolute or as seen from the working directory'),
  old_string: z
    .string()
    .describe('Text that stands in the file, exactly, without line numbers; empty to make a new file'),
  new_string: z.string().describe('Text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence; otherwise there must be just one'),
});

/** Replaces a text in a file of the working directory. */
export const editTool = defineTool({
  name: 'Edit',
  description:
    'Replaces a piece of text in a file. old_string must stand in the file exactly, white space included, and only once unless replace_all is set: give a few lines around the place. Line ends stay as the file has them.',
  access: 'edit',
  input: editInput,
  async subject({ file_path }, cwd) {
    const { relative, asGiven } = await resolveForWriting(cwd, file_path);
    return { path: relative, alias: asGiven };
  },
  async run(input, context) {
    const file = await resolveForWriting(context.cwd, input.file_path);
    return withFileLock(file.absolute, () => edit(file, input, context));
  },
});

async function edit(
  file: WorkspacePath,
  { old_string: oldText, new_string: newText, replace_all: all = false }: z.infer<typeof editInput>,
  { signal, session }: ToolContext,
): Promise<ToolOutput> {
  signal.throwIfAborted();
  const before = await readTextFile(file);
  if (before === undefined && oldText !== '') {
    return failed(`${file.relative} does not exist. To make it, use Write, or Edit with an empty old_string.`);
  }
  if (before !== undefined && oldText === '' && before.text !== '') {
    return failed(`${file.relative} is not empty: an empty old_string makes new files only.`);
  }
  const plan =
    oldText === ''
      ? ({ ok: true, text: newText, lines: [1] } as const)
      : planEdit(before?.text ?? '', { oldText, newText, all });
  if (!plan.ok) {
    const near = plan.near === undefined ? '' : `\n${session.cuts.slice(plan.near, 0, LONGEST_NEAR_TEXT)}`;
    return failed(`${file.relative}: ${plan.message}${near}`);
  }
  await replaceFile(file.absolute, plan.text.toWellFormed(), before?.stamp, signal);
  session.seen.set(file.absolute, await fileStamp(file.absolute));
  const times = plan.lines.length === 1 ? '1 replacement' : `${plan.lines.length} replacements`;
  const places = `${plan.lines.slice(0, MOST_PLACES_NAMED).join(', ')}${plan.lines.length > MOST_PLACES_NAMED ? ', …' : ''}`;
  const head = `${file.relative}: ${times}, at line${plan.lines.length === 1 ? '' : 's'} ${places}.`;
  const shown = plan.lines.length === 1 ? `\n${excerpt(plan.text, plan.lines[0] ?? 1, newText, session.cuts)}` : '';
  return { text: head + shown, isError: false, summary: `edited ${file.relative}` };
}

function excerpt(text: string, line: number, newText: string, cuts: Cuts): string {
  const lines = text.split(/\r?\n/);
  const from = Math.max(0, line - 1 - CONTEXT_LINES);
  const wanted = line - 1 + newText.split('\n').length + CONTEXT_LINES;
  const until = Math.min(lines.length, wanted, from + MOST_LINES_SHOWN);
  const keys = new PrivateKeyLines();
  const inKey = lines.slice(0, until).map((each) => keys.isInside(each));
  const shown = lines.slice(from, until).map((each, index) => {
    const part = inKey[from + index] === true ? KEY_LINE : cuts.slice(each, 0, LONGEST_LINE_SHOWN);
    return `${from + index + 1}\t${part}`;
  });
  if (until < Math.min(lines.length, wanted)) shown.push('[the rest is not shown]');
  return shown.join('\n');
}

function failed(text: string): ToolOutput {
  return { text, isError: true };
}
