import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { PERMITTED, REFUSED_GLOBALS, REFUSED_PROPERTIES } from '../../dsl/permit-table.ts';
import { runInSandbox } from '../unit/runtime/sandbox/run-in-sandbox.ts';

/** Own property names of everything that can be reached from a fresh global object, by path; functions of two plain properties left out. */
const WALK = `(() => {
  const name = (k) => typeof k === 'string' ? k : '@@' + k.description.replace('Symbol.', '')
  const seen = new Map(), found = {}
  const refused = new Set(REFUSED)
  const roots = { '': globalThis, ...HIDDEN }
  const queue = Object.entries(roots)
  const prototypes = []
  // Prototypes come last, so that an object has the name of its path where it has one.
  while (queue.length + prototypes.length > 0) {
    const [path, object] = queue.length > 0 ? queue.shift() : prototypes.shift()
    if (object === null || (typeof object !== 'object' && typeof object !== 'function') || seen.has(object)) continue
    seen.set(object, path)
    const keys = Reflect.ownKeys(object)
    const own = keys.map(name).filter((k) => typeof object !== 'function' || !['length', 'name', 'prototype'].includes(k))
    if (typeof object !== 'function' || own.length > 0 || keys.includes('prototype')) found[path || 'globalThis'] = own
    for (const k of keys) {
      if (object === globalThis && refused.has(k)) continue
      const d = Reflect.getOwnPropertyDescriptor(object, k)
      const at = path === '' ? name(k) : path + '.' + name(k)
      queue.push([at, d.value], [at + '<get>', d.get], [at + '<set>', d.set])
    }
    prototypes.push([path + '.[[Prototype]]', Reflect.getPrototypeOf(object)])
  }
  return found
})()`;

/** The objects that have no path, made the way \`dsl/intrinsics.ts\` and \`dsl/tame-segmenter.ts\` make them. */
const HIDDEN = `(() => {
  const p = Object.getPrototypeOf
  const a = p(async () => {}), g = p(function* () {}), ag = p(async function* () {}), t = p(Int8Array)
  const s = new Intl.Segmenter().segment('')
  return {
    '%AsyncFunction%': a.constructor, '%AsyncFunction.prototype%': a,
    '%GeneratorFunction%': g.constructor, '%GeneratorFunction.prototype%': g, '%GeneratorPrototype%': g.prototype,
    '%AsyncGeneratorFunction%': ag.constructor, '%AsyncGeneratorFunction.prototype%': ag,
    '%AsyncGeneratorPrototype%': ag.prototype, '%AsyncIteratorPrototype%': p(ag.prototype),
    '%ArrayIteratorPrototype%': p([][Symbol.iterator]()), '%MapIteratorPrototype%': p(new Map().entries()),
    '%SetIteratorPrototype%': p(new Set().values()), '%StringIteratorPrototype%': p(''[Symbol.iterator]()),
    '%RegExpStringIteratorPrototype%': p(''.matchAll(/a/g)), '%IteratorHelperPrototype%': p([].values().map((x) => x)),
    '%WrapForValidIteratorPrototype%': p(Iterator.from({ next() {} })),
    '%TypedArray%': t, '%TypedArray.prototype%': t.prototype,
    '%SegmentsPrototype%': p(s), '%SegmentIteratorPrototype%': p(s[Symbol.iterator]()),
  }
})()`;

function walkFreshRealm(): Record<string, string[]> {
  const code = WALK.replace('REFUSED', JSON.stringify(REFUSED_GLOBALS)).replace('HIDDEN', HIDDEN);
  return JSON.parse(runInNewContext(`JSON.stringify(${code})`) as string) as Record<string, string[]>;
}

describe('the permit table', () => {
  it('names every global and every property of this engine (S-22)', () => {
    const unknown: string[] = [];
    for (const [path, own] of Object.entries(walkFreshRealm())) {
      const known = [...(PERMITTED[path] ?? '').split(' '), ...(REFUSED_PROPERTIES[path] ?? '').split(' ')];
      if (path === 'globalThis') known.push(...REFUSED_GLOBALS);
      if (PERMITTED[path] === undefined) unknown.push(`${path} (an object of its own)`);
      unknown.push(...own.filter((name) => !known.includes(name)).map((name) => `${path}.${name}`));
    }
    expect(unknown.filter((path) => !path.startsWith('.[[Prototype]]'))).toEqual([]);
  });

  it('names nothing twice and nothing both ways (S-22)', () => {
    for (const [path, names] of Object.entries(PERMITTED)) {
      const list = names.split(' ').filter((name) => name !== '');
      expect(new Set(list).size, path).toBe(list.length);
      const refused = (REFUSED_PROPERTIES[path] ?? '').split(' ');
      expect(
        list.filter((name) => refused.includes(name)),
        path,
      ).toEqual([]);
    }
    expect((PERMITTED.globalThis as string).split(' ').filter((name) => REFUSED_GLOBALS.includes(name))).toEqual([]);
  });

  it('gives scripts these globals and no others (S-20, S-22)', async () => {
    const { value } = await runInSandbox('return Object.getOwnPropertyNames(globalThis).sort()');
    const permitted = (PERMITTED.globalThis as string).split(' ');
    expect((value as string[]).filter((name) => !permitted.includes(name))).toEqual(
      [
        ...['agent', 'args', 'budget', 'console', 'log', 'meta', 'parallel', 'phase', 'pipeline', 'workflow'],
        ...['TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'atob', 'btoa', 'structuredClone'],
        ...['clearTimeout', 'queueMicrotask', 'setTimeout'],
      ].sort(),
    );
  });

  it('leaves nothing in the guest that can be changed, and no property that it does not name (S-21, S-22)', async () => {
    const { value } = await runInSandbox(`
      const walk = ${WALK.replace('REFUSED', '[]').replace('HIDDEN', HIDDEN)}
      const open = []
      const seen = new Set([args, meta])
      const visit = (o, path) => {
        if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) return
        seen.add(o)
        if (o !== globalThis && !Object.isFrozen(o)) open.push(path)
        for (const k of Reflect.ownKeys(o)) {
          const d = Reflect.getOwnPropertyDescriptor(o, k)
          if (o === globalThis && (d.configurable || d.writable)) open.push('globalThis.' + String(k))
          for (const part of [d.value, d.get, d.set]) visit(part, path + '.' + String(k))
        }
        visit(Reflect.getPrototypeOf(o), path + '.[[Prototype]]')
      }
      visit(globalThis, 'globalThis')
      const hidden = ${HIDDEN}
      for (const k in hidden) visit(hidden[k], k)
      return { walk, open }
    `);
    const { walk, open } = value as { walk: Record<string, string[]>; open: string[] };
    expect(open).toEqual([]);
    const extra = Object.entries(walk).flatMap(([path, own]) => {
      const permitted = PERMITTED[path]?.split(' ');
      return permitted === undefined
        ? []
        : own.filter((name) => !permitted.includes(name)).map((name) => `${path}.${name}`);
    });
    expect(extra.filter((path) => !path.startsWith('globalThis.'))).toEqual(['Error.prepareStackTrace']);
  });
});
