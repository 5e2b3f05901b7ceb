import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeAnswer } from '../../../../runtime/sandbox/encode-answers.ts';

describe('an answer on the wire', () => {
  it('is one line of bytes that gives the value back, whatever its JSON looks like', () => {
    const lone = fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '😀', 'a', '\n', '\u2028', '"') });
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), lone),
        fc.constantFrom(undefined, 2, '\t'),
        fc.nat(),
        (value, indent, spent) => {
          const raw =
            typeof value === 'string' ? `"${value.replace(/["\\\p{Cc}]/gu, '')}"` : JSON.stringify(value, null, indent);
          const line = encodeAnswer(7, { ok: true, valueJson: raw.replaceAll('\n', '\r\n') }, spent);
          expect(line).not.toMatch(/[\n\r]/);
          expect(JSON.parse(Buffer.from(line).toString())).toEqual(['ok', 7, JSON.parse(raw), spent]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('carries an error with its data', () => {
    const error = { name: 'WorkflowError', code: 'AGENT_API', message: 'half \ud800', data: { a: ['\n'] } } as const;
    expect(JSON.parse(encodeAnswer(1, { ok: false, error }, null))).toEqual(['no', 1, error, null]);
  });
});
