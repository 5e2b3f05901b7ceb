import { describe, expect, it } from 'vitest';
import { formatValues, readable } from '../../../dsl/inspect.ts';

describe('any value made readable (S-15)', () => {
  it('is written in one line as one would write it', () => {
    class Point {
      x = 1;
    }
    const cycle: Record<string, unknown> = { a: 1 };
    cycle.self = cycle;
    const shown: [unknown, string][] = [
      ['text', 'text'],
      [undefined, 'undefined'],
      [null, 'null'],
      [-0.5, '-0.5'],
      [10n, '10n'],
      [Symbol('s'), 'Symbol(s)'],
      [() => 1, '[function without a name]'],
      [function named() {}, '[function named]'],
      [
        { alpha: 1, 'b c': [2, { gamma: 'deep' }], [Symbol('k')]: 0 },
        '{ alpha: 1, "b c": [2, { gamma: "deep" }], [Symbol(k)]: 0 }',
      ],
      [{}, '{}'],
      [[], '[]'],
      [new Point(), 'Point { x: 1 }'],
      [new Map<unknown, unknown>([['a', { b: 1 }]]), 'Map(1) {"a" => { b: 1 }}'],
      [new Set([1, 'x']), 'Set(2) {1, "x"}'],
      [new Uint8Array([1, 2]), 'Uint8Array(2) [1, 2]'],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [new Date(Number.NaN), 'Invalid Date'],
      [/a+/g, '/a+/g'],
      [Promise.resolve(1), '[a promise: await it]'],
      [cycle, '{ a: 1, self: [a cycle] }'],
      [
        {
          get x() {
            return 1;
          },
        },
        '{ x: [a getter] }',
      ],
      [Object.create(null), '{}'],
    ];
    for (const [value, text] of shown) expect(readable(value)).toBe(text);
  });

  it('shows what an error says, where, and why', () => {
    const error = new TypeError('outer', { cause: new Error('inner') });
    expect(readable(error)).toMatch(/^TypeError: outer \(.*:\d+:\d+\), caused by Error: inner \(.*:\d+:\d+\)$/);
  });

  it('stays bounded whatever it is given', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`key${at}`, 'x'.repeat(1000)]));
    let deep: unknown = 1;
    for (let at = 0; at < 10_000; at++) deep = [deep];
    expect(readable(wide).length).toBeLessThan(25_000);
    expect(readable(Array.from({ length: 1e6 }, () => 0))).toMatch(/, … 999900 more\]$/);
    expect(readable(deep)).toBe('[[[[[[[[[…]]]]]]]]]');
    expect(readable('y'.repeat(50_000))).toHaveLength(50_000);
    expect(readable(['y'.repeat(50_000)]).length).toBeLessThan(10_100);
  });

  it('never throws', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no');
        },
      },
    );
    const named = Object.assign(() => 1, {});
    Object.defineProperty(named, 'name', {
      get() {
        throw new Error('no');
      },
    });
    for (const value of [hostile, named, [hostile]]) expect(readable(value)).toContain('cannot be shown');
  });
});

describe('printf substitutions (S-15)', () => {
  it('take the values after the text, and what is left is put behind', () => {
    const lines: [unknown[], string][] = [
      [['%s has %d items', 'cart', 3], 'cart has 3 items'],
      [['%i %f %j %o %O %%', 3.9, '2.5', { a: 1 }, [1], 'x'], '3 2.5 {"a":1} [1] x %'],
      [['%cred', 'color: red'], 'red'],
      [['%s %s', 'only'], 'only %s'],
      [['%d', {}], 'NaN'],
      [['100%', 'sure'], '100% sure'],
      [['%s'], '%s'],
      [[{ a: 1 }, 'b', 2], '{ a: 1 } b 2'],
      [[], ''],
      [['%d', 10n], '10n'],
    ];
    for (const [values, text] of lines) expect(formatValues(values)).toBe(text);
  });
});
