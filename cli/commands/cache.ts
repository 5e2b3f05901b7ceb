import {
  clearSharedResults,
  listSharedResults,
  type SharedResultEntry,
  verifySharedResults,
} from '../../cache/shared-results-upkeep.ts';
import type { CliContext } from '../cli-context.ts';
import { ago } from '../output/ago.ts';
import { askYesNo } from '../output/ask.ts';
import { byteSize } from '../output/byte-size.ts';
import { textTable } from '../output/text-table.ts';
import { stateRoot } from '../state/state-root.ts';

export interface CacheFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** `wf cache`: looks after the results that runs share with `--reuse`. Source: spec R-19. */
export async function cacheCommand(
  context: CliContext,
  action: 'ls' | 'verify' | 'clear',
  flags: CacheFlags,
): Promise<number> {
  const root = stateRoot(context, flags);
  switch (action) {
    case 'ls':
      return list(context, root, flags);
    case 'verify':
      return verify(context, root, flags);
    case 'clear':
      return clear(context, root, flags);
  }
}

async function list(context: CliContext, root: string, flags: CacheFlags): Promise<number> {
  const entries = await listSharedResults(root);
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
    return 0;
  }
  if (entries.length === 0) context.stderr.write(`no shared results in ${root}; runs leave them with --reuse\n`);
  context.stdout.write(
    textTable(
      entries.map(({ key, size, storedAt, backend, model }) => [
        key.slice(0, 15),
        byteSize(size),
        ago(storedAt, context.now()),
        backend,
        model ?? '',
      ]),
    ),
  );
  return 0;
}

async function verify(context: CliContext, root: string, flags: CacheFlags): Promise<number> {
  const check = await verifySharedResults(root);
  const { kept, keptBytes, damaged, orphans, freedBytes } = check;
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify(check)}\n`);
    return 0;
  }
  context.stdout.write(
    textTable([
      ['good', `${results(kept)}, ${byteSize(keptBytes)}`],
      ['damaged', `${results(damaged)}, now removed`],
      ['left over', `${orphans === 1 ? '1 value' : `${orphans} values`} without a result, now removed`],
      ['freed', byteSize(freedBytes)],
    ]),
  );
  return 0;
}

async function clear(context: CliContext, root: string, flags: CacheFlags): Promise<number> {
  const entries: readonly SharedResultEntry[] = await listSharedResults(root);
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  if (entries.length > 0 && flags.yes !== true) {
    const question = `Remove ${results(entries.length)} (${byteSize(bytes)}) that runs share from ${root}?`;
    if (!(await askYesNo(context, question))) return 0;
  }
  await clearSharedResults(root);
  if (flags.json === true) context.stdout.write(`${JSON.stringify({ removed: entries.length, bytes })}\n`);
  else context.stderr.write(`removed ${results(entries.length)} (${byteSize(bytes)})\n`);
  return 0;
}

function results(count: number): string {
  return count === 1 ? '1 result' : `${count} results`;
}
