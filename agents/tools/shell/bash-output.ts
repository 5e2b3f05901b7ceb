import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../agent-tool.ts';
import type { BackgroundCommand } from '../tool-session.ts';
import { isLongOutput, plainOutput, shownOutput } from './output-buffer.ts';

const LONGEST_WAIT_MS = 300_000;

/** Reads, waits for or stops a command that Bash started in the background. */
export const bashOutputTool = defineTool({
  name: 'BashOutput',
  description:
    'Gives what a command in the background has printed since you last asked, and whether it still runs. With wait_ms it waits that long for more output or the end; with stop it ends the command first.',
  access: 'read',
  companionOf: 'Bash',
  input: z.object({
    id: z.string().describe('As Bash gave it, such as bash_1'),
    wait_ms: z
      .int()
      .min(0)
      .max(LONGEST_WAIT_MS)
      .optional()
      .describe('Longest wait in milliseconds; none when left out'),
    stop: z.boolean().optional().describe('End the command'),
  }),
  async run({ id, wait_ms: waitMs = 0, stop = false }, context) {
    const command = context.session.background.get(id);
    if (command === undefined) {
      const known = [...context.session.background.keys()].join(', ') || 'none was started';
      return { text: `There is no command ${id} in the background: ${known}.`, isError: true };
    }
    const { process } = command.shell;
    if (stop) {
      await process.kill();
      await process.ended.catch(() => {});
    } else if (waitMs > 0) await somethingNew(command, waitMs, context);
    return { text: await news(command, context), isError: false, summary: `${id}: ${stateOf(command)}` };
  },
});

/** Waits for output that was not seen, or the end. */
async function somethingNew(command: BackgroundCommand, waitMs: number, context: ToolContext): Promise<void> {
  const { process } = command.shell;
  const { signal } = context;
  const over = new AbortController();
  const isNew = (): boolean => process.end !== undefined || unseen(command, context).text !== '';
  const changed = new Promise<void>((resolve) => {
    const look = (): void => {
      if (isNew()) resolve();
    };
    over.signal.addEventListener('abort', process.onChange(look), { once: true });
    look();
  });
  const waited = delay(waitMs, undefined, { signal: AbortSignal.any([signal, over.signal]) });
  try {
    await Promise.race([changed, waited, process.ended.catch(() => {})]);
  } finally {
    over.abort();
    await waited.catch(() => {});
  }
  signal.throwIfAborted();
}

async function news(command: BackgroundCommand, context: ToolContext): Promise<string> {
  const { session } = context;
  const fresh = unseen(command, context);
  command.seen = fresh.until;
  const plain = plainOutput(fresh.text);
  const file = isLongOutput(plain) ? await session.keep('bash', plain) : undefined;
  const text = shownOutput(plain, file, session.cuts);
  return `${text === '' ? '[nothing new was printed]' : text}\n[${command.id}: ${stateOf(command)}]`;
}

/** What was printed since the agent last looked; while more may come, without the beginning of what may be a secret. */
function unseen({ shell, seen }: BackgroundCommand, { session }: ToolContext): { text: string; until: number } {
  const length = shell.printed();
  if (length <= seen) return { text: '', until: seen };
  const fresh = shell.output(seen);
  if (shell.process.end !== undefined) return { text: fresh, until: length };
  const settled = session.cuts.settled(fresh);
  return { text: fresh.slice(0, settled), until: length - (fresh.length - settled) };
}

function stateOf({ shell }: BackgroundCommand): string {
  const { end } = shell.process;
  if (end === undefined) return 'running';
  return end.exitCode === undefined ? `ended by ${end.signal}` : `exit code ${end.exitCode}`;
}
