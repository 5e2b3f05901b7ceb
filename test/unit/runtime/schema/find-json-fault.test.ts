import { describe, expect, it } from 'vitest';
import { findJsonFault, nestsDeeperThan } from '../../../../runtime/schema/find-json-fault.ts';

describe('the first fault of a broken JSON text (A-6)', () => {
  it.each([
    ['', 0, 'ends'],
    ['{"a":1', 6, 'ends'],
    ['{"a":"x', 7, 'ends within a string'],
    ['{"a" 1}', 5, '":" expected'],
    ['{a:1}', 1, 'property name'],
    ['{"a":1,}', 7, 'property name'],
    ['[1 2]', 3, '"," or "]"'],
    ['[1,]', 3, 'a value expected'],
    ['{"plan":"grep \\| x"}', 14, 'illegal escape \\|'],
    ['"\\u12g4"', 1, 'illegal escape'],
    ['"a\nb"', 2, 'control character'],
    ['{"a":1} x', 8, 'over'],
    ['{"a":01}', 6, '"," or "}"'],
    ['nul', 0, 'a value'],
    ["{'a':1}", 1, 'property name'],
  ])('of %j is at %i', (text, offset, reason) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findJsonFault(text)).toMatchObject({ offset, reason: expect.stringContaining(reason) });
  });

  it.each(['null', ' [1.5e-3, -0, true] ', '{"a":{"b":["\\u00e9\\n", "\u007f\u0085é😀"]}}', '"\ud800"'])(
    '%j has none',
    (text) => {
      expect(() => JSON.parse(text)).not.toThrow();
      expect(findJsonFault(text)).toBeUndefined();
    },
  );
});

describe('nesting', () => {
  it('counts brackets outside strings only', () => {
    expect(nestsDeeperThan('[[["[[[["]]]', 3)).toBe(false);
    expect(nestsDeeperThan('[{"a\\"[[":[1]}]', 2)).toBe(true);
  });
});
