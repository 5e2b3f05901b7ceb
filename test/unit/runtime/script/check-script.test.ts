// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts stand here as text
import { describe, expect, it } from 'vitest';
import { GUEST_NAMES } from '../../../../runtime/script/check/unknown-name.ts';
import { checkScript } from '../../../../runtime/script/check-script.ts';
import { runInSandbox } from '../sandbox/run-in-sandbox.ts';
import { accepted, META } from './refused.ts';

const warningsOf = (text: string) => checkScript(accepted(META + text));
const rulesOf = (text: string) => warningsOf(text).map(({ rule }) => rule);

describe('parallel given promises', () => {
  it.each([
    'await parallel([agent(1), agent(2)])',
    'await parallel([() => agent(1), agent(2).then(log)])',
    'const p = agent(1)\nawait parallel([p])',
    'await parallel(args.map((x) => agent(x)))',
    'await parallel(args.map(async (x) => x))',
    'await parallel(args.map((x) => { return agent(x).catch(log) }))',
    'const jobs = args.map((x) => agent(x))\nawait parallel(jobs)',
    'const work = async (x) => agent(x)\nawait parallel(args.map(work))',
    'async function work(x) { return agent(x) }\nawait parallel([...args.map(work)])',
    'await parallel([workflow("w")])',
  ])('is warned about: %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual(['eager-parallel']);
  });

  it.each([
    'await parallel([() => agent(1), async () => agent(2)])',
    'await parallel(args.map((x) => () => agent(x)))',
    'await parallel(args.map((x) => { return () => agent(x) }))',
    'const parallel = Promise.all.bind(Promise)\nawait parallel([agent(1)])',
    'await Promise.all(args.map((x) => agent(x)))',
    'await parallel(args.list)',
    'await parallel([args.f])',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('an agent that is not awaited', () => {
  it.each([
    'agent(1)',
    'parallel([() => agent(1)])',
    'pipeline(args, (x) => agent(x))',
    'workflow("w")',
    'agent(1).then(log)',
    'agent(1).then(log).catch(log).finally(log)',
    'if (args) agent(1)',
    'args && agent(1)',
    'args ? agent(1) : agent(2)',
    'args.forEach((x) => agent(x))',
    'args.forEach(async (x) => { await agent(x) })',
    'args.map((x) => agent(x))',
    'Promise.all(args.map((x) => agent(x)))',
    "phase('P', async () => { await agent(1) })",
    ';(async () => { await agent(1) })()',
    'async function main() { await agent(1) }\nmain()',
    'await parallel([() => { agent(1) }])',
  ])('is warned about: %j (C-3)', (text) => {
    const warnings = warningsOf(text);
    expect(warnings.map(({ rule }) => rule)).toEqual(['not-awaited']);
    expect(warnings[0]?.message).toMatch(/await/);
  });

  it.each([
    'await agent(1)',
    'const p = agent(1)\nawait p',
    'let p; p = agent(1); await p',
    'void agent(1)',
    'return agent(1)',
    'const list = []\nlist.push(agent(1))\nawait Promise.all(list)',
    'function agent() {}\nagent(1)',
    "phase('P')",
    'args.forEach((x) => log(x))',
    'args.forEach(async (x) => log(x))',
    'async function main() { await agent(1) }\nawait main()',
    'function log2(x) { log(x) }\nlog2(1)',
    'for await (const r of args.map((x) => agent(x))) log(r)',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('a promise that is read as its value', () => {
  it.each([
    ['const a = agent(1)\nreturn a.trim()', 'a is a promise, and has no trim; await it first: const a = await ….'],
    ['const a = agent(1)\nconst b = a\nreturn { x: b?.title, y: b.text }', 'b is a promise, and has no title'],
    ['return await parallel([() => agent(1)]).filter(Boolean)', 'what parallel gives is a promise, and has no filter'],
    ['const [a, b] = parallel([() => agent(1), () => agent(2)])\nreturn a', 'what parallel gives is a promise'],
    ['const r = pipeline(args, (x) => agent(x))\nfor (const x of r) log(x)', 'r is a promise, and has no items'],
    ['const a = agent(1)\nreturn agent(`judge ${a}`)', 'a is a promise, and its text is [object Promise]'],
    ["const a = workflow('w')\nreturn 'x' + a", 'a is a promise'],
    ['async function ask(x) { return await agent(x) }\nreturn ask(1).title', 'what ask gives is a promise'],
  ])('is warned about once: %j (C-3)', (text, message) => {
    const warnings = warningsOf(text);
    expect(warnings.map(({ rule }) => rule)).toEqual(['not-awaited']);
    expect(warnings[0]?.message).toContain(message);
  });

  it.each([
    'const a = agent(1)\nreturn (await a).title',
    'const a = await agent(1)\nreturn a.title',
    'const a = agent(1).then((x) => x.title)\nreturn a',
    'const a = agent(1)\nreturn a.catch(() => null).finally(() => {})',
    'const [a] = await parallel([() => agent(1)])\nreturn `${a}`',
    'const made = [agent(1), agent(2)]\nreturn (await Promise.all(made)).length + made.length',
    'for await (const x of args.map((y) => agent(y))) log(x)',
    'function agent(x) { return { title: x } }\nreturn agent(1).title',
    'let a = agent(1)\na = await a\nreturn a.title',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('a prompt of unstable data', () => {
  it.each([
    'await agent(`left: ${budget.remaining()}`)',
    "const left = 'left: ' + budget.spent()\nawait agent(left)",
    'const first = await Promise.race([agent(1), agent(2)])\nawait agent(`judge ${first}`)',
    'const clock = Date.now\nawait agent(`at ${clock()}`)',
    'const out = []\nawait parallel(args.map((x) => async () => { out.push(await agent(x)) }))\nawait agent(out.join())',
    'const out = []\nawait Promise.all(args.map(async (x) => { out.push(await agent(x)) }))\nconst text = JSON.stringify(out)\nawait agent(`join ${text}`)',
    'const out = []\nawait Promise.all(args.map((x) => agent(x).then((r) => out.push(r))))\nawait agent(`join ${out}`)',
    'const out = []\nawait pipeline(args, (x) => agent(x), (r) => { out.push(r); return r })\nawait agent(`join ${out}`)',
  ])('is warned about: %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual(['unstable-prompt']);
  });

  it.each([
    'if (budget.remaining() > 5) await agent(1)',
    'const out = []\nfor (const x of args) out.push(await agent(x))\nawait agent(out.join())',
    'const out = []\nawait parallel(args.map((x) => async () => { out.push(await agent(x)) }))\nawait agent(out.sort().join())',
    'const out = []\nawait parallel(args.map((x) => async () => { out.push(await agent(x)) }))\nawait agent(`all ${out.length} of them`)',
    'const out = await parallel(args.map((x) => () => agent(x)))\nawait agent(out.join())',
    'await parallel(args.map((x) => async () => { const own = []; own.push(await agent(x)); return agent(own.join()) }))',
    'const out = []\nawait parallel(args.map((x) => async () => { out.push(await agent(x)) }))\nawait agent(args.out)',
    'const first = await agent(1)\nawait agent(`judge ${first}`)',
    'await agent(`at ${new Date(args.now).toISOString()}`)',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('a schema that {} satisfies', () => {
  it.each([
    'await agent(1, { schema: {} })',
    "await agent(1, { schema: { type: 'object' } })",
    "await agent(1, { schema: { type: 'object', properties: { a: {} } } })",
    "await agent(1, { schema: { type: ['object', 'null'], required: [] } })",
    "const schema = { type: 'object', properties: { a: {} } }\nawait agent(1, { label: 'x', schema })",
    'const OPTIONS = { schema: { properties: {} } }\nawait agent(1, OPTIONS)',
  ])('is warned about: %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual(['loose-schema']);
  });

  it('is told which properties it could require (C-3)', () => {
    const [warning] = warningsOf("await agent(1, {\n  schema: { type: 'object', properties: { a: {}, b: {} } } })");
    expect(warning).toMatchObject({ line: 3, column: 11, message: expect.stringContaining("required: ['a', 'b']") });
  });

  it.each([
    'await agent(1)',
    "await agent(1, { schema: { type: 'object', required: ['a'] } })",
    "await agent(1, { schema: { type: 'array' } })",
    "await agent(1, { schema: { $ref: '#/x' } })",
    'await agent(1, { schema: { anyOf: [] } })',
    "await agent(1, { schema: { type: 'object', required: args.keys } })",
    "await agent(1, { schema: { type: 'object', ...args } })",
    'await agent(1, { schema: args.schema })',
    'await agent(1, { ...args, schema: args.x })',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('a loop of agents without a bound', () => {
  it.each([
    'while (true) { await agent(1) }',
    'for (;;) await agent(1)',
    'do { await agent(1) } while (1)',
    'for (let i = 0; ; i++) { await agent(i) }',
    'while (true) { const r = await agent(1); if (r.done) break }',
    'while (true) { const r = await agent(1); switch (r) { case 1: break } }',
    'while (true) { await agent(1); for (const x of args) { if (x > 3) break } }',
    'while (true) { await parallel(args.map((x) => () => { if (x > 3) return; return agent(x) })) }',
  ])('is warned about: %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual(['unbounded-loop']);
  });

  it.each([
    'for (let i = 0; i < 3; i++) await agent(i)',
    'while (args.more) await agent(1)',
    'let n = 0\nwhile (true) { await agent(1); if (++n >= 5) break }',
    'while (true) { await agent(1); if (budget.remaining()) continue; break }',
    'while (true) { await agent(1); if (!budget.remaining()) return 1 }',
    'while (true) { await agent(1); break }',
    'outer: while (true) { for (;;) { await agent(1); break outer } }',
    'while (true) { log(1) }',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});

describe('a name that nothing declares', () => {
  it.each([
    'return await fetch("https://example.com")',
    'const fs = require("fs")',
    'log(process.env.HOME)',
    'return resluts.length',
    'counter = 1',
    'return { total }',
    'return args.map((x) => transform(x))',
  ])('is warned about: %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual(['unknown-name']);
  });

  it.each([
    'return typeof fetch === "undefined"',
    'function f() { return arguments.length }\nreturn f(meta.name, new URL("https://example.com").host)',
    'outer: for (const x of [1]) { for (;;) { break outer } }',
    'const { a: b = 1, ...rest } = args\nreturn { b, rest, fetch: 1, require() {} }',
    'class A { fetch = 1; static process = 2; get x() { return this.fetch } }\nreturn new A().fetch',
    'try { JSON.parse("x") } catch (error) { return String(error) }',
    'const f = function self(n) { return n ? self(n - 1) : Infinity }\nreturn f(1)',
    'return args?.process ?? globalThis.fetch',
    'for (var i = 0; i < 1; i++);\nreturn i + new Intl.NumberFormat("en").format(structuredClone(1))',
  ])('is not seen in %j (C-3)', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });

  it('is none that the sandbox has (C-3, S-22)', async () => {
    const { value } = await runInSandbox('return Object.getOwnPropertyNames(globalThis)');
    const names = (value as string[]).filter((name) => name !== 'eval');
    expect([...GUEST_NAMES].filter((name) => name !== 'eval' && name !== 'arguments').toSorted()).toEqual(
      names.toSorted(),
    );
  });

  it('says once, in order, what to do instead (C-3)', () => {
    const [first, second] = warningsOf('const a = await fetch(1)\nconst b = await fetch(2)\nreturn procces(a, b)');
    expect(first).toMatchObject({ line: 2, column: 17 });
    expect(first?.message).toContain('let an agent fetch it');
    expect(second?.message).toContain('procces is not defined');
  });
});

describe('warnings', () => {
  it('come in the order of the text with the author’s places, also in TypeScript (C-3)', () => {
    const script = accepted(`${META}const x: number = 1\n  agent(1)\nwhile (true) { await agent(x) }`, 'script.ts');
    expect(checkScript(script)).toMatchObject([
      { rule: 'not-awaited', line: 3, column: 3 },
      { rule: 'unbounded-loop', line: 4, column: 1 },
    ]);
  });
});
