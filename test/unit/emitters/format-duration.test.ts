import { expect, it } from 'vitest';
import { formatDuration } from '../../../emitters/format-duration.ts';

it.each([
  [0, '0 ms'],
  [999.6, '1.0 s'],
  [340, '340 ms'],
  [3210, '3.2 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 00 s'],
  [245_000, '4 min 05 s'],
  [3_599_900, '1 h 00 min'],
  [7_380_000, '2 h 03 min'],
])('%d ms read %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});
