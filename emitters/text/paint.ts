import { createColors } from 'picocolors';
import type { Tone } from './text-lines.ts';

/** How each tone looks on a terminal; without `color` a text stays as it is. */
export function createPaint(color: boolean): Record<Tone, (text: string) => string> {
  const colors = createColors(color);
  return {
    plain: (text) => text,
    heading: colors.bold,
    dim: colors.dim,
    good: colors.green,
    warn: colors.yellow,
    bad: colors.red,
    loud: (text) => colors.bold(colors.yellow(text)),
  };
}
