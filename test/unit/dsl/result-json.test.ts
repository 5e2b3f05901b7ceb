import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toResultJson } from '../../../dsl/result-json.ts';

const json = (value: unknown): unknown => {
  const result = toResultJson(value);
  return result.ok ? result.json : [result.path, result.what];
};
const warnings = (value: unknown): readonly string[] => {
  const result = toResultJson(value);
  return result.ok ? result.warnings : ['not JSON'];
};

describe('the JSON of a result (S-28)', () => {
  it('is that of JSON.stringify for every JSON value, key order included', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false } as never), (value) => {
        expect(toResultJson(value)).toEqual({ ok: true, json: JSON.stringify(value), warnings: [] });
      }),
    );
  });

  it('follows JSON.stringify for what JSON.stringify knows', () => {
    class Point {
      x = 1;
      gone = undefined;
      get y(): number {
        return 2;
      }
    }
    const values = [
      ...[undefined, new Date(0), new Uint8Array([7, 8]), new Point(), { toJSON: (key: string) => `key ${key}` }],
      ...[
        { told: { toJSON: (key: string) => key } },
        Object('s'),
        Object(5),
        Object(true),
        Object.assign(new Array(3), { 0: undefined, 2: 1 }),
      ],
      ...['\ud800', '\0', { '': 1, __proto__: null, a: undefined }, JSON.parse('{"__proto__":1}'), new Proxy([1], {})],
    ];
    for (const value of values) expect(json(value)).toBe(JSON.stringify(value));
  });

  it('turns Map and Set into what a reader expects, and says so', () => {
    expect(json(new Map<string, unknown>([['a', new Set([1])]]))).toBe('{"a":[1]}');
    expect(
      json(
        new Map<unknown, unknown>([
          [1, 'x'],
          ['y', 2],
        ]),
      ),
    ).toBe('[[1,"x"],["y",2]]');
    expect(warnings({ m: new Map(), list: [new Set()] })).toEqual([
      'A Map at `m` of the result became an object.',
      'A Set at `list[0]` of the result became an array.',
    ]);
  });

  it('warns of what is lost', () => {
    const lost = {
      f: () => 1,
      list: [Symbol('s'), Number.NaN],
      far: [{ 'odd key': -Infinity }],
      p: Promise.resolve(),
      e: new Error('x'),
    };
    expect(json(lost)).toBe('{"list":[null,null],"far":[{"odd key":null}],"p":{},"e":{}}');
    expect(warnings(lost)).toEqual([
      'A function at `f` of the result was left out.',
      'A symbol at `list[0]` of the result was left out.',
      'NaN at `list[1]` of the result became null.',
      '-Infinity at `far[0]["odd key"]` of the result became null.',
      'A promise at `p` of the result was not awaited and became {}.',
      'An error at `e` of the result lost its message; return error.message instead.',
    ]);
    expect(warnings(Array.from({ length: 100 }, () => Number.NaN))).toHaveLength(20);
  });

  it('refuses what JSON cannot hold, with the path to it', () => {
    const cycle: Record<string, unknown> = { beta: {} };
    (cycle.beta as Record<string, unknown>).gamma = cycle;
    const thrower = {
      deep: [
        {
          get bad(): never {
            throw new RangeError('getter');
          },
        },
      ],
    };
    expect(json(() => 1)).toEqual(['', 'a function']);
    expect(json(Symbol('s'))).toEqual(['', 'a symbol']);
    expect(json({ first: { second: [1, 10n] } })).toEqual(['first.second[1]', 'a BigInt']);
    expect(json({ alpha: cycle })).toEqual(['alpha.beta.gamma', 'a cycle']);
    expect(json(new Map([['k', 1n]]))).toEqual(['k', 'a BigInt']);
    expect(json(thrower)).toEqual(['deep[0].bad', 'a getter that threw RangeError: getter']);
    expect(
      json([
        {
          toJSON() {
            throw 'text';
          },
        },
      ]),
    ).toEqual(['[0]', 'a toJSON that threw a string']);
  });

  it('takes a value twice that is no cycle', () => {
    const shared = { a: 1 };
    expect(json([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  it('refuses a value that is nested too deeply', () => {
    let deep: unknown = 1;
    for (let at = 0; at < 200_000; at++) deep = [deep];
    expect(json(deep)).toEqual(['', 'a value that is nested too deeply or too large']);
  });
});
