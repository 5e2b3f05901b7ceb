// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts stand here as text
import { describe, expect, it } from 'vitest';
import { accepted, refused } from './refused.ts';

const withMember = (member: string) => `export const meta = { name: 'n', description: 'd',\n  ${member} }\n`;

describe('the place of meta', () => {
  it.each([
    ['const x = 1\nexport const meta = {}', 'stands before'],
    ["'use strict'\nexport const meta = {}", 'stands before'],
    ['await agent(1)', 'does not begin with its meta'],
    ['const meta = {}', 'meta is not exported'],
    ['export let meta = {}', 'export let'],
    ['export var meta = {}', 'export var'],
    ['const meta = {}; export { meta }', 'meta is not exported'],
    ['```js\nexport const meta = {}\n```', 'Markdown fence'],
    ['Please do this.', 'does not begin with its meta'],
    ['export const meta = []', 'ArrayExpression'],
    ['export const meta = { name: "n", description: "d" }, other = 1', 'together with another name'],
    ['\\u0065xport const meta = {}', 'meta'],
  ])('%j is refused (S-2)', (text, what) => {
    const error = refused(text);
    expect(error).toMatchObject({ code: 'SCRIPT_META_INVALID', place: { line: 1 } });
    expect(error.message).toContain(what);
  });

  it('comments, blank lines and comments inside the declaration are allowed (S-2)', () => {
    const text = "// a\n\n/* b */ export /* c */ const // d\n meta = { name: 'n', description: 'd' }";
    expect(accepted(text).meta).toEqual({ name: 'n', description: 'd' });
  });

  it('a next line that begins with a bracket is explained (S-6)', () => {
    const error = refused("export const meta = { name: 'n', description: 'd' }\n[1].map(log)");
    expect(error.message).toContain('semicolon');
  });
});

describe('the literal', () => {
  it('objects, arrays, strings, signed numbers, booleans, null and plain templates are accepted (S-3, S-4)', () => {
    const text =
      "export const meta = { name: `n`, 'description': \"d\", whenToUse: 'w', phases: [{ title: 'P', detail: 'x', model: 'm' }], other: [-1, +2, 1e3, true, null, { a: [] }], 5: 6 }";
    expect(accepted(text).meta).toEqual({
      name: 'n',
      description: 'd',
      whenToUse: 'w',
      phases: [{ title: 'P', detail: 'x', model: 'm' }],
    });
  });

  it.each([
    ["x: 'a' + 'b'", 'BinaryExpression', 6],
    ['x: `a ${1}`', 'TemplateLiteral', 6],
    ["x: String('a')", 'CallExpression', 6],
    ['...{}', 'SpreadElement', 3],
    ['x: [{ y: unknown }]', 'Identifier (the name unknown)', 12],
    ['name', 'Identifier (the name name)', 3],
    ['x: undefined', 'Identifier (the name undefined)', 6],
    ['x: /a/', 'regular expression', 6],
    ['x: 1n', 'BigInt', 6],
    ['x: [1, , 2]', 'ArrayExpression (with a hole)', 6],
    ['x: -true', 'UnaryExpression', 6],
    ['x: !1', 'UnaryExpression', 6],
    ["['x']: 1", 'computed key', 4],
    ['x() {}', 'FunctionExpression', 4],
    ['get x() { return 1 }', 'Property (a getter)', 3],
    ['x: () => 1', 'ArrowFunctionExpression', 6],
    ['__proto__: {}', '__proto__', 3],
    ["'__pro\\u0074o__': {}", '__proto__', 3],
    ['x: { constructor: 1 }', 'constructor', 8],
    ["x: [{ 'prototype': 1 }]", 'prototype', 9],
  ])('%j is refused by node type and place (S-3)', (member, what, column) => {
    const error = refused(withMember(member));
    expect(error).toMatchObject({ code: 'SCRIPT_META_INVALID', place: { line: 2, column } });
    expect(error.message).toContain(what);
  });
});

describe('the members', () => {
  it.each(['', '5', "''", "'  '", 'null', '[]'])('a name or description of %j is refused (S-4)', (value) => {
    for (const [key, other] of [
      ['name', 'description'],
      ['description', 'name'],
    ]) {
      const member = value === '' ? '' : `, ${key}: ${value}`;
      const error = refused(`export const meta = { ${other}: 'x'${member} }`);
      expect(error).toMatchObject({ code: 'SCRIPT_META_INVALID' });
      expect(error.message).toContain(`meta.${key}`);
    }
  });

  it('malformed phases are dropped, each with a warning that has its place (S-4)', () => {
    const { meta, warnings } = accepted(
      withMember("phases: [{ title: 'A' }, 'B',\n { title: 3 }, { title: 'C', detail: 1 }, null]"),
    );
    expect(meta.phases).toEqual([{ title: 'A' }]);
    expect(warnings.map((warning) => warning.split(' ', 2).join(' '))).toEqual([
      'script.js:2:28: meta.phases[1]',
      'script.js:3:2: meta.phases[2]',
      'script.js:3:16: meta.phases[3]',
      'script.js:3:43: meta.phases[4]',
    ]);
  });

  it('phases that are no array and a whenToUse that is no string are ignored with a warning (S-4)', () => {
    const { meta, warnings } = accepted(withMember("phases: 'x', whenToUse: 4"));
    expect(meta).toEqual({ name: 'n', description: 'd' });
    expect(warnings).toHaveLength(2);
  });
});
