import type { CliContext } from '../cli-context.ts';
import type { TextOutput } from './text-output.ts';

/** Colours are for terminals that have them, unless `NO_COLOR` is set (E-17). */
export function wantsColor({ env }: Pick<CliContext, 'env'>, { isTerminal }: Pick<TextOutput, 'isTerminal'>): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
