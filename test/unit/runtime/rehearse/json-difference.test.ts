import { describe, expect, it } from 'vitest';
import { describeLack, firstDifference, isPartOf } from '../../../../runtime/rehearse/json-difference.ts';

describe('firstDifference', () => {
  it('is undefined for equal values, whatever the order of members', () => {
    expect(firstDifference({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBeUndefined();
  });

  it('names the first place in the order of the left value', () => {
    const left = { list: [{ title: 'a' }, { title: 'b' }], 'odd name': 1 };
    expect(firstDifference(left, { ...left, list: [{ title: 'a' }, { title: 'c' }] })).toEqual({
      path: 'list[1].title',
      left: '"b"',
      right: '"c"',
    });
    expect(firstDifference(left, { ...left, 'odd name': 2 })?.path).toBe('["odd name"]');
    expect(firstDifference([1], [1, 2])).toEqual({ path: '[1]', left: undefined, right: '2' });
    expect(firstDifference('a', null)).toEqual({ path: '', left: '"a"', right: 'null' });
    expect(firstDifference({ a: [] }, { a: {} })?.path).toBe('a');
  });
});

describe('isPartOf', () => {
  it('is true when something is missing and nothing was added', () => {
    expect(isPartOf({ all: ['a', 'c'] }, { all: ['a', 'b', 'c'], more: 1 })).toBe(true);
    expect(isPartOf('first\nthird', 'first\nsecond\nthird')).toBe(true);
    expect(isPartOf([{ n: [1] }], [{ n: [1, 2] }, { n: [3] }])).toBe(true);
    expect(isPartOf([], ['a'])).toBe(true);
  });

  it('is false when something stands in the place of what is missing', () => {
    expect(isPartOf({ all: ['a', null, 'c'] }, { all: ['a', 'b', 'c'] })).toBe(false);
    expect(isPartOf({ all: ['a'], failed: 1 }, { all: ['a', 'b'], failed: 0 })).toBe(false);
    expect(isPartOf({ all: ['a'], note: 'x' }, { all: ['a', 'b'] })).toBe(false);
    expect(isPartOf(['b', 'a'], ['a', 'b'])).toBe(false);
    expect(isPartOf('none', 'some\ntext')).toBe(false);
  });
});

describe('describeLack', () => {
  it('says what is missing, and where', () => {
    expect(describeLack([1], [1, 2])).toBe('the result has 1 of 2 items');
    expect(describeLack({ a: { b: [] } }, { a: { b: ['x'] } })).toBe('a.b has 0 of 1 items');
    expect(describeLack([{ a: 1 }], [{ a: 1, b: 2 }])).toBe('[0].b is absent');
    expect(describeLack({ text: 'a' }, { text: 'a\nb' })).toBe('text lacks lines');
  });
});
