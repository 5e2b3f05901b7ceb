import { describe, expect, it } from 'vitest';
import { createOutputContract } from '../../../../runtime/schema/output-contract.ts';

/** Far above what the check takes on a slow machine, far below what the unbounded way would take. */
const PATIENCE_MS = 20_000;

function judge(schema: unknown, value: unknown) {
  return createOutputContract(schema).judge(JSON.stringify(value));
}

describe('no schema and no answer hangs the host (A-7)', () => {
  it('an expression that backtracks without end elsewhere takes linear time', { timeout: PATIENCE_MS }, () => {
    expect(judge({ type: 'string', pattern: '(a+)+$' }, { value: `${'a'.repeat(200_000)}!` }).ok).toBe(false);
  });

  it('100,000 items are found to differ in one pass', { timeout: PATIENCE_MS }, () => {
    const items = Array.from({ length: 100_000 }, (_, at) => ({ at }));
    expect(judge({ type: 'array', uniqueItems: true }, { value: items }).ok).toBe(true);
    expect(judge({ type: 'array', uniqueItems: true }, { value: [...items, { at: 7 }] })).toMatchObject({ ok: false });
  });

  it('a union that doubles with each of 40 references is given up', { timeout: PATIENCE_MS }, () => {
    const $defs: Record<string, unknown> = { d0: { const: 1 } };
    for (let at = 1; at <= 40; at += 1) {
      $defs[`d${at}`] = { anyOf: [{ $ref: `#/$defs/d${at - 1}` }, { $ref: `#/$defs/d${at - 1}` }] };
    }
    const verdict = judge({ type: 'object', properties: { a: { $ref: '#/$defs/d40' } }, $defs }, { a: 2 });
    expect(verdict).toMatchObject({ ok: false, message: expect.stringContaining('too much work') });
  });

  it('a recursive union over a deep answer is given up', { timeout: PATIENCE_MS }, () => {
    const schema = { type: 'object', properties: { x: { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, y: { const: 1 } } };
    let value: unknown = { y: 2 };
    for (let depth = 0; depth < 60; depth += 1) value = { x: value };
    expect(judge(schema, value)).toMatchObject({ ok: false, message: expect.stringContaining('too much work') });
  });

  it('50,000 allowed values against 50,000 items take one look each', { timeout: PATIENCE_MS }, () => {
    const values = Array.from({ length: 50_000 }, (_, at) => `v${at}`);
    expect(judge({ type: 'array', items: { enum: values } }, { value: values }).ok).toBe(true);
    expect(judge({ type: 'array', items: { enum: values } }, { value: [...values, 'w'] }).ok).toBe(false);
  });

  it('100,000 faults are told by the first of them', { timeout: PATIENCE_MS }, () => {
    const schema = { type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'object', required: ['b'] } } };
    const verdict = judge(schema, { value: Array.from({ length: 100_000 }, () => ({})) });
    expect(verdict).toMatchObject({
      ok: false,
      message: expect.stringContaining('value[0]: the property "b" is missing'),
    });
  });

  it('a format whose expression backtracks meets short texts only', { timeout: PATIENCE_MS }, () => {
    const urls = Array.from({ length: 300 }, () => `http://${':a'.repeat(1_000)}`);
    expect(judge({ type: 'array', items: { type: 'string', format: 'url' } }, { value: urls }).ok).toBe(false);
    expect(judge({ type: 'string', format: 'uri' }, { value: `https://e.com/${'x'.repeat(3_000)}` }).ok).toBe(false);
    expect(judge({ type: 'string', format: 'byte' }, { value: 'YWJj'.repeat(10_000) }).ok).toBe(true);
  });

  it('a schema with too many parts, or too many patterns, is refused', { timeout: PATIENCE_MS }, () => {
    const many = (count: number, part: (at: number) => unknown) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, part(at)])),
    });
    expect(() => createOutputContract(many(20_000, () => ({ type: 'null' })))).toThrow('10000 parts');
    expect(() => createOutputContract(many(5_000, (at) => ({ pattern: `^x{500}${at}$` })))).toThrow('patterns');
  });

  it('an object of 2,000 properties is checked in full', { timeout: PATIENCE_MS }, () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `p${at}`);
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])) };
    expect(judge(schema, Object.fromEntries(names.map((name) => [name, 1]))).ok).toBe(true);
    expect(judge(schema, { p1999: {} })).toMatchObject({ ok: false, message: expect.stringContaining('p1999') });
  });
});
