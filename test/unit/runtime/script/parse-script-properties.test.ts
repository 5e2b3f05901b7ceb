import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWorkflowError } from '../../../../protocol/workflow-error.ts';
import { checkScript } from '../../../../runtime/script/check-script.ts';
import { type ParsedScript, parseScript } from '../../../../runtime/script/parse-script.ts';
import { META } from './refused.ts';

/** The script, or undefined when it is refused as a script may be; anything else is thrown. */
function tryParse(text: string, fileName = 'script.js'): ParsedScript | undefined {
  try {
    return parseScript(text, { fileName });
  } catch (error) {
    if (!isWorkflowError(error) || error.kind !== 'script') throw error;
    expect(error.place).toMatchObject({ file: fileName, line: expect.any(Number), column: expect.any(Number) });
    expect(error.message).toMatch(/^script\.[jt]s:\d+:\d+: .+\n\d+ \|.*\n +\| *\^/);
    return undefined;
  }
}

const FRAGMENTS = [
  ...[
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '`',
    '${',
    "'",
    '/',
    '/*',
    '*/',
    '//',
    '<!--',
    '-->',
    '\n',
    '\r\n',
    '\u2028',
    ';',
    ',',
  ],
  ...[
    'return ',
    'leak()',
    'async function () ',
    '(function () ',
    '=> ',
    'x',
    '1',
    'await ',
    'export ',
    'import ',
    'const ',
  ],
  ...['= ', '+', 'Date.now()', 'agent', ': ', 'as ', '} })', '\0', '😀', '\uD800', '\\u0061', 'class ', 'meta '],
];
const soup = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 12 }).map((parts) => parts.join(''));
const text = fc.oneof(
  soup,
  soup.map((body) => META + body),
  fc.string({ unit: 'binary' }),
  fc.string().map((body) => META + body),
);

describe('any text', () => {
  it('is a script or is refused as one, with a place (S-6)', () => {
    fc.assert(
      fc.property(text, (script) => void tryParse(script)),
      { numRuns: 3000 },
    );
  });

  it('is one or the other in TypeScript, too (S-5)', () => {
    fc.assert(
      fc.property(text, (script) => void tryParse(script, 'script.ts')),
      { numRuns: 1000 },
    );
  });

  it('that is a script stays inside its function and can be checked (S-5, C-3)', () => {
    let parsed = 0;
    fc.assert(
      fc.property(soup, (body) => {
        const script = tryParse(META + body);
        if (script === undefined) return;
        parsed += 1;
        checkScript(script);
        // `leak` is no global here: a statement that got out of the inner function would throw.
        const outer: () => unknown = vm.runInNewContext(script.code);
        expect(typeof outer()).toBe('function');
      }),
      { numRuns: 4000 },
    );
    expect(parsed).toBeGreaterThan(100);
  });
});

describe('line ends', () => {
  it('never change what a script is (S-1)', () => {
    const lines = fc.array(fc.constantFrom('log(1)', '// note', 'const s = `a', 'b`', ' ', '  log(`x`)'), {
      maxLength: 8,
    });
    const ends = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(lines, ends, fc.boolean(), (body, separators, hasBom) => {
        const mixed = body.map((line, index) => line + (separators[index] ?? '\n')).join('');
        const plain = body.map((line) => `${line}\n`).join('');
        expect(tryParse((hasBom ? '\uFEFF' : '') + META + mixed)).toEqual(tryParse(META + plain));
      }),
      { numRuns: 500 },
    );
  });
});
