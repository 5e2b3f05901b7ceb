import { expect, it } from 'vitest';
import { wantsColor } from '../../../../cli/output/wants-color.ts';

it('colours go to terminals that have them, and to nobody who sets NO_COLOR (E-17)', () => {
  const terminal = { isTerminal: true };
  expect(wantsColor({ env: { TERM: 'xterm', NO_COLOR: '' } }, terminal)).toBe(true);
  expect(wantsColor({ env: { TERM: 'dumb' } }, terminal)).toBe(false);
  expect(wantsColor({ env: { NO_COLOR: '1' } }, terminal)).toBe(false);
  expect(wantsColor({ env: {} }, { isTerminal: false })).toBe(false);
});
