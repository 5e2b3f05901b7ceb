import type { FanOutRequest } from '../../runtime/run-options.ts';
import type { CliContext } from '../cli-context.ts';
import type { RunFlags } from '../flags/run-flags.ts';

/** Asks the person at the terminal whether a large fan-out may start; `--yes` says so, and nobody to ask is a no. Source: spec A-33. */
export async function confirmFanOut(
  context: CliContext,
  flags: Pick<RunFlags, 'yes'>,
  { helper, agents, tokens }: FanOutRequest,
): Promise<boolean> {
  if (flags.yes === true) return true;
  const { askYesNo, canAsk } = await import('../output/ask.ts');
  if (!canAsk(context)) return false;
  const forecast = tokens === undefined ? '' : `, about ${tokens.toLocaleString('en-US')} tokens by those so far`;
  return askYesNo(context, `${helper}() is about to start ${agents.toLocaleString('en-US')} agents${forecast}. Go on?`);
}
