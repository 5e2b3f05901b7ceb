import { expect, it } from 'vitest';
import { byteSize } from '../../../../cli/output/byte-size.ts';

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [3_565_158, '3.4 MiB'],
  [200 * 1024 ** 2, '200 MiB'],
  [5 * 1024 ** 4, '5120 GiB'],
])('%d bytes are written as %s (C-5)', (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});
