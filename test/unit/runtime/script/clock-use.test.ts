// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts stand here as text
import { describe, expect, it } from 'vitest';
import { accepted, META, refused } from './refused.ts';

describe('direct uses of the clock and of chance', () => {
  it.each([
    ['return Date.now()', 'Date.now()', 8],
    ['return Math.random()', 'Math.random()', 8],
    ['return new Date()', 'new Date()', 8],
    ['return new Date', 'new Date()', 8],
    ['return Date()', 'Date()', 8],
    ['return performance.now()', 'performance.now()', 8],
    ['return Date?.now?.()', 'Date.now()', 8],
    ['return (Date?.now)()', 'Date.now()', 8],
    ["return Date['now']()", 'Date.now()', 8],
    ['return Math[`random`]()', 'Math.random()', 8],
    ['return globalThis.Date.now()', 'Date.now()', 8],
    ['return new globalThis.Date()', 'new Date()', 8],
    ["return globalThis['Math']?.random()", 'Math.random()', 8],
    ['return D\\u0061te.now()', 'Date.now()', 8],
    ['return `at ${Date.now()}`', 'Date.now()', 14],
    ['function never() { if (false) return Date.now() }', 'Date.now()', 38],
    ['class A { at = Date.now() }', 'Date.now()', 16],
    ['const f = (at = Date.now()) => { var Date; return at }', 'Date.now()', 17],
    ['{ const Date = 1 }\nreturn Date.now()', 'Date.now()', 8],
    ['const f = function () { var Date = 1 }\nreturn Date.now()', 'Date.now()', 8],
    ['for (const Date of []) {}\nreturn Date.now()', 'Date.now()', 8],
    ['try {} catch (Date) {}\nreturn Date.now()', 'Date.now()', 8],
    ['switch (Date.now()) { case 1: let Date }', 'Date.now()', 9],
  ])('%j is refused (S-7)', (text, form, column) => {
    const error = refused(META + text);
    expect(error).toMatchObject({
      code: 'SCRIPT_NONDETERMINISTIC',
      place: { line: 1 + text.split('\n').length, column },
    });
    expect(error.message).toContain(`${form} `);
    expect(error.message).toMatch(/\nHint: .*args/);
  });

  it.each([
    "return 'Date.now()' + `Math.random()` // new Date()",
    'return new Date(0)',
    'return new Date(...[])',
    'return Date.UTC(1970)',
    'return [1].map(Date.now)',
    'return { Date: { now() {} } }.Date.now()',
    'return args.Math.random()',
    'return Date[args.name]()',
  ])('%j passes the check (S-7)', (text) => {
    expect(accepted(META + text).meta.name).toBe('case');
  });

  it.each([
    'const Date = args; return Date.now()',
    'let Date = args; return () => () => Date.now()',
    'return Date.now(); function Date() {}',
    'return Date.now(); class Date {}',
    'return Date.now(); { var Date }',
    'for (var Date of []) {} return Date.now()',
    'return ((Date) => Date.now())(args)',
    'return (({ a: [Date] }) => Date.now())(args)',
    'return ((...Date) => Date.now())(args)',
    'return (({ Date = 1 }) => new Date())(args)',
    'return ((Date, at = Date.now()) => at)(args)',
    'return (function Date() { return Date.now() })()',
    'return (class Date { static at() { return Date.now() } }).at()',
    'class A { static { var Date = args; Date.now() } }',
    'try { } catch ({ Date }) { Date.now() }',
    'for (const Date of args) Date.now()',
    'for (let Date = args; ;) { Date.now(); break }',
    'for (const Date in args) { Date.now() }',
    'switch (1) { case 1: const Date = args; case 2: Date.now() }',
    'const { globalThis } = args; return globalThis.Date.now()',
    'const Math = args, performance = args; return [Math.random(), performance.now()]',
  ])('a local that shadows the name is not refused: %j (S-7)', (text) => {
    expect(accepted(META + text).meta.name).toBe('case');
  });
});
