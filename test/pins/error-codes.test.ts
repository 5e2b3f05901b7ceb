import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../protocol/error-codes.ts';

const folder = path.join(import.meta.dirname, '../../docs/errors');
const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe('docs/errors', () => {
  it('has a page for every code and none besides (C-10)', () => {
    expect(readdirSync(folder).sort()).toEqual(codes.map((code) => `${code}.md`).sort());
  });

  it.each(codes)('%s: its page says the kind, the exit code and what to do (C-7, C-10)', (code) => {
    const page = readFileSync(path.join(folder, `${code}.md`), 'utf8');
    const { kind, exit } = ERROR_CODES[code];
    expect(page.startsWith(`# ${code}\n`)).toBe(true);
    expect(page).toContain('## What to do');
    expect(page).toMatch(new RegExp(`Kind: \`${kind}\` .*Exit code: ${exit}[.]\n$`));
  });

  it('gives no code an exit number that is not in the table of exit codes (C-7)', () => {
    const known = new Set([1, 4, 5, 64, 65, 66, 69, 70, 74, 75, 124, 130]);
    expect(codes.filter((code) => !known.has(ERROR_CODES[code].exit))).toEqual([]);
  });
});
