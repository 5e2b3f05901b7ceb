import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as base64 from '../../../dsl/base64.ts';
import { structuredClone as clone } from '../../../dsl/structured-clone.ts';
import { TextDecoder as Decoder, TextEncoder as Encoder } from '../../../dsl/text-encoding.ts';

/** The platform's own are the oracle: whatever they say of a value, ours say too (S-19). */
const outcome = (act: () => unknown): unknown => {
  try {
    return act();
  } catch {
    return 'refused';
  }
};

describe('data globals of other platforms (S-19)', () => {
  it('TextEncoder gives the bytes of the platform’s', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect([...new Encoder().encode(text)]).toEqual([...new TextEncoder().encode(text)]);
      }),
    );
  });

  it('TextDecoder reads any bytes as the platform’s does, fatal or not', () => {
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc
        .array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xe2, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0x90, 0x9f, 0x82))
        .map((list) => Uint8Array.from(list)),
    );
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.boolean(), (input, fatal, ignoreBOM) => {
        expect(outcome(() => new Decoder('utf-8', { fatal, ignoreBOM }).decode(input))).toBe(
          outcome(() => new TextDecoder('utf-8', { fatal, ignoreBOM }).decode(input)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('TextDecoder takes buffers and views of them, and says which encoding it knows', () => {
    const { buffer } = new Uint8Array([1, 226, 130, 172]);
    expect(new Decoder().decode(new DataView(buffer, 1))).toBe('€');
    expect(new Decoder(' UTF8 ').decode(buffer)).toBe('\x01€');
    expect(new Decoder().decode()).toBe('');
    expect(() => new Decoder('latin1')).toThrow(/utf-8 only/);
    expect(() => new Decoder().decode('x' as never)).toThrow(TypeError);
  });

  it('btoa and atob agree with the platform’s', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(outcome(() => base64.btoa(text))).toBe(outcome(() => btoa(text)));
      }),
    );
    const latin = fc.array(fc.integer({ min: 0, max: 255 })).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(latin, (text) => {
        expect(base64.atob(base64.btoa(text))).toBe(text);
      }),
    );
    const almost = fc.string({ unit: fc.constantFrom('a', 'Z', '9', '+', '/', '=', ' ', '\n', '-', 'é') });
    fc.assert(
      fc.property(almost, (text) => {
        expect(outcome(() => base64.atob(text))).toBe(outcome(() => atob(text)));
      }),
      { numRuns: 500 },
    );
  });

  it('structuredClone copies data as the platform’s does, cycles and shared parts included', () => {
    const shared = { s: 1 };
    const value: Record<string, unknown> = {
      ...{
        list: Object.assign(new Array(4), { 0: 1, 2: undefined, 3: 'x' }),
        map: new Map([[shared, shared]]),
        set: new Set([shared]),
        date: new Date(5),
        regex: /a/gi,
      },
      ...{
        big: 1n,
        boxed: Object('s'),
        bytes: new Uint8Array([1, 2]).subarray(1),
        view: new DataView(new ArrayBuffer(4), 1, 2),
      },
      ...{ error: new RangeError('m', { cause: { why: 1 } }), nan: Number.NaN, nothing: null },
    };
    value.self = value;
    const copied = clone(value) as typeof value;
    expect(copied).toEqual(structuredClone(value));
    expect(copied.self).toBe(copied);
    expect([...(copied.map as Map<unknown, unknown>)][0]?.[0]).toBe([...(copied.set as Set<unknown>)][0]);
    expect(copied.error).toBeInstanceOf(RangeError);
  });

  it('structuredClone refuses what is no data', () => {
    for (const value of [() => 1, Symbol('s'), { f() {} }, Promise.resolve(), new WeakMap()])
      expect(() => clone(value)).toThrow(TypeError);
  });
});
