// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of scripts
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { authorColumn, withoutInsertions } from '../../../../dsl/inserted-text.ts';
import { createScopeHooks } from '../../../../dsl/scope-hooks.ts';
import { SCOPE_HOOKS } from '../../../../dsl/wire.ts';
import { PROGRAM_PARAMETERS } from '../../../../runtime/script/program-parameters.ts';
import { accepted, META, refused } from './refused.ts';

const codeOf = (body: string): string => accepted(META + body).code;

/** Runs a body as the sandbox does, with `agent` for its only global. */
function run(body: string, agent: (prompt: unknown) => unknown = async (prompt) => prompt): Promise<unknown> {
  const program: (...given: unknown[]) => () => Promise<unknown> = vm.runInThisContext(codeOf(body), {
    lineOffset: -1,
  });
  return program(agent, ...PROGRAM_PARAMETERS.slice(1).map(() => undefined), ...createScopeHooks())();
}

/** Runs a body as it is, for comparison. */
function runPlain(body: string, agent: (prompt: unknown) => unknown = async (prompt) => prompt): Promise<unknown> {
  const plain: (agent: unknown) => Promise<unknown> = vm.runInThisContext(
    `(async function (agent) { 'use strict';\n${body}\n})`,
  );
  return plain(agent);
}

const BODIES: Readonly<Record<string, string>> = {
  'statements without semicolons':
    'let n = 1\nawait agent(1)\nawait agent(2)\nconst f = async () => await agent(3)\nn += await f()\n;[1, 2].forEach((x) => { n += x })\nreturn n',
  'a line that begins with a bracket':
    'const f = (x) => (y) => x + y\nconst r = f(await agent(1))\n(await agent(2))\nreturn r',
  'a line that begins with a template':
    'const tag = (s) => (t) => s + t[0]\nconst r = tag(await agent("a"))\n`b`\nreturn r',
  'await in a template': 'return `${await agent(1)}-${await agent(`${await agent(2)}`)}`',
  'await in a tagged template':
    'const t = (s, ...v) => s.raw.join("|") + v.join()\nreturn t`a${await agent(1)}b${await agent(2)}c`',
  'a comment between await and its operand': 'return [await /* ) */ agent(1), await // ) => (\n agent(2)]',
  'a bracketed operand':
    'return [await (agent(1)), await ((0, agent(2))), await (agent(1), agent(3)), await(agent(4))]',
  'operators around it':
    'let x = 2\nreturn [-await agent(1), !await agent(0), typeof await agent(""), (await agent(2)) ** 2, 1 + await agent(1) * 2, await agent(1) in { 1: 1 }, void await agent(1) ?? 3, (x += await agent(3), x), await agent(0) || await agent(5), await agent(1) ? await agent(2) : await agent(3)]',
  'await of await': 'return await await await agent(1)',
  'members and calls':
    'return [(await agent({ a: { b: [1] } }))?.a?.["b"]?.[0], (await agent(null))?.a.b.c, new (await agent(Map))().size, (await agent((x) => x))(4)]',
  'spread and destructuring':
    'const { a, ...rest } = await agent({ a: 1, b: 2 })\nconst [x, y = await agent(9)] = await agent([1])\nreturn [a, rest, x, y, ...(await agent([5]))]',
  'loops and labels':
    'const seen = []\nouter: for (const i of [1, 2, 3]) { inner: for (const j of await agent([1, 2, 3])) { if (j === 2) continue outer\n if (i === 3) break outer\n seen.push(await agent(i * 10 + j)) } }\nfor (let i = await agent(0); i < await agent(2); i += await agent(1)) seen.push(i)\nwhile (await agent(seen.length < 6)) seen.push("w")\ndo await agent(1)\nwhile (await agent(false))\nfor (const k in await agent({ k: 1 })) seen.push(k)\nif (await agent(1)) await agent(2)\nelse await agent(3)\nreturn seen',
  'for await over promises, values and generators':
    'const seen = []\nfor await (const x of [agent(1), 2, agent(3)]) seen.push(x)\nfor await (const { y, z = 7 } of (async function* () { yield { y: 1 }; yield agent({ y: 2, z: 3 }) })()) { seen.push(y, z) }\nlet q; for await (q of [4]) ;\nfor await (const x of "ab") seen.push(x)\nreturn [seen, q]',
  'labelled for await':
    'const seen = []\na: b: for await (const x of [1, 2, 3]) { for await (const y of [1, 2, 3]) { if (y === 2) continue a\n if (x === 3) break b\n seen.push(x * 10 + y) } }\nif (seen.length) for await (const x of [9]) seen.push(x)\nelse seen.push("no")\nreturn seen',
  'for await that is left early closes the iterator':
    'const seen = []\nconst it = { i: 0, [Symbol.asyncIterator]() { return this }, next() { return Promise.resolve({ done: false, value: this.i++ }) }, return(v) { seen.push("closed", arguments.length); return Promise.resolve({}) } }\nfor await (const x of it) { seen.push(x); if (x === 1) break }\ntry { for await (const x of it) throw new Error("out") } catch (e) { seen.push(e.message) }\nconst f = async () => { for await (const x of it) return x }\nseen.push(await f())\nreturn seen',
  'for await over what is none':
    'const out = []\nfor (const v of [1, {}, null, undefined]) try { for await (const x of v); out.push("ok") } catch (e) { out.push(e.name) }\nreturn out',
  'async generators':
    'const seen = []\nasync function* inner() { const got = yield 1; seen.push("got " + got); try { yield agent(2) } finally { seen.push("closed"); await agent(0) } }\nasync function* g() { const r = yield* inner(); seen.push(r); yield; yield [3, 4]; return agent("end") }\nconst it = g()\nseen.push(await it.next("lost"), await it.next("x"), await it.next(), await it.next(), await it.next(), await it.next())\nconst early = g(); await early.next(); await early.next(); seen.push(await early.return("r"))\nconst hurt = g(); await hurt.next(); try { await hurt.throw(new Error("t")) } catch (e) { seen.push(e.message) }\nconst queued = g(); seen.push(await Promise.all([queued.next(), queued.next(), queued.next()]))\nasync function* none() {}\nseen.push(await none().next())\nreturn seen',
  'yield* of lists and of what is none':
    'const out = []\nasync function* g(v) { yield* v }\nfor await (const x of g([agent(1), 2])) out.push(x)\ntry { await g(5).next() } catch (e) { out.push(e.name) }\nreturn out',
  generators:
    'function* g() { const a = yield 1; try { yield a } finally { yield 3 } }\nconst it = g(); return [it.next(), it.next(5), it.return(9), it.next()]',
  'errors and finally':
    'const out = []\nasync function f(n) { try { if (n === 0) throw new Error("sync"); await agent(1); if (n === 1) throw new Error("late"); await Promise.reject(new Error("rejected")) } catch ({ message }) { out.push(message); await agent(1); if (n === 2) return "returned" } finally { out.push("finally"); await agent(2) } return "end" }\nout.push(await f(0), await f(1), await f(2))\nconst g = async () => { try { return await agent("t") } finally { out.push("after") } }\nout.push(await g())\ntry { try { await Promise.reject("r") } finally { out.push("f") } } catch { out.push("c") }\nreturn out',
  'class members':
    'class A { static s = async (x) => (await agent(x)) + 1; #p = 5; f = async () => await agent(this.#p); async m(a, b = 2) { return [await agent(a), b, arguments.length, this.constructor.name] } static async #q() { return await agent("q") } static q() { return A.#q() } async *[Symbol.asyncIterator]() { yield await agent(1) } get g() { return agent("g") } async get() { return await agent("get") } async async() { return await agent("async") } }\nclass B extends A { async m(...r) { const up = await super.m(...r); return [up, await super.m(1)] } }\nconst o = { async m() { return await agent("o") }, async ["c" + await agent("d")]() { return await agent("e") }, f: async function () { return [await agent(1), new.target] } }\nconst list = []; for await (const x of new B()) list.push(x)\nreturn [await A.s(1), await new A().f(), await new B().m(3), await A.q(), list, await new A().g, await new A().get(), await new A().async(), await o.m(), await o.cd(), await o.f()]',
  'names and lengths':
    'async function one(a, b = 1) { await agent(1) }\nconst two = async (a) => await agent(a)\nconst three = async function named(x, y) { await agent(1); return named.name }\nconst o = { async four(a) { await agent(1) }, five: async () => { await agent(1) } }\nreturn [one.name, one.length, two.name, two.length, three.name, three.length, await three(), o.four.name, o.five.name, o.five.length, (await agent(async () => { await 1 })).name]',
  'this, arguments and new.target':
    'async function f() { await agent(1); const g = async () => { await agent(2); return [this.x, arguments[0]] }; return g() }\nreturn [await f.call({ x: 1 }, "a"), await (async function () { await 1; return this })()]',
  'default parameters':
    'const f = async (a, b = (async () => await agent(a))(), { c = 3 } = {}) => { const got = await b; return [a, got, c] }\nreturn await f(1)',
  'arrow bodies':
    'const a = async (x) => ({ v: await agent(x) })\nconst b = async x => (await agent(x), 2)\nconst c = async (x /* => */, y = (1)) /* => ( */ =>\n  // => {\n  await agent(x + y)\nconst d = async () => async () => await agent(4)\nreturn [await a(1), await b(1), await c(1), await (await d())(), await (async () => await agent(5))()]',
  'functions of one name':
    'async function f() { await agent(1); return g(); function g() { return 1 } function g() { return 2 } }\nasync function h() { var v = 1; function v() {} ; await agent(1); try { await Promise.reject(1) } catch { return [v, await agent(2)] } }\nreturn [await f(), await h()]',
  'functions called before their line':
    'const r = await f(1)\nreturn [r, typeof f]\nasync function f(x) { return await inner(x)\n async function inner(y) { return await agent(y) } }',
  handlers:
    'const o = { then: undefined, catch(f) { return typeof f }, finally: 1 }\nreturn [await agent(1).then((x) => x + 1), await Promise.reject(new Error("r")).catch((e) => e.message), await agent(2).then((1, (x) => x * 2), null).finally((...a) => a.length), await Promise.reject(3)["catch"]((x) => x), await agent(4)?.then?.((x) => x), o.catch((x) => x), o.catch("text"), await agent(5).then(...[(x) => x]), await agent(6).then()]',
  thenables:
    'class Lazy { constructor(v) { this.v = v } then(ok, no) { this.v === 0 ? no(new Error("zero")) : ok(this.v) } }\nlet m; try { await new Lazy(0) } catch (e) { m = e.message }\nlet t; try { await { then() { throw new Error("thrown") } } } catch (e) { t = e.message }\nlet g; try { await { get then() { throw new Error("got") } } } catch (e) { g = e.message }\nreturn [await new Lazy(1), m, t, g, await { then: 5 }.then, await Object.assign(() => {}, { then: (r) => r("f") }), await new Lazy(new Lazy(2))]',
  'names that the runtime would use':
    'const awaited = 1, $enter = 2\nconst f = async (\\u0024here) => { await agent(1); return \\u0024here }\nreturn [awaited, $enter, await f(3), typeof $leave]',
  'directives and odd spacing':
    'async function f(){"use strict";await agent(1);return await agent(2)}\nreturn[await f(),await(async()=>{await agent(3);return 4})()]',
  'regular expressions beside it':
    'const n = await agent(8) /2/ 1\nreturn [n, await agent("a/b").then((s) => s.split(/\\//)), /x/.test(await agent("x"))]',
  using:
    'const seen = []; { using r = { [Symbol.dispose]() { seen.push("disposed") } }; await agent(1); seen.push("body") } return seen',
  'a switch':
    'switch (await agent(2)) { case await agent(1): return "one"; case await agent(2): { await agent(0); return "two" } default: return "none" }',
  'sequence of effects':
    'const seen = []\nconst f = async (n) => { seen.push("in " + n); await null; seen.push("out " + n); await null; seen.push("end " + n) }\nconst all = [f(1), f(2)]\nseen.push("after")\nPromise.resolve().then(() => seen.push("then"))\nawait Promise.all(all)\nreturn seen',
};

describe('a script whose scopes are kept', () => {
  it.each(Object.entries(BODIES))('means what it meant: %s (R-21)', async (_title, body) => {
    const plain = await runPlain(body);
    expect(plain).toBeDefined();
    expect(await run(body)).toEqual(plain);
    expect(codeOf(body).split('\n').slice(2, -1).map(withoutInsertions).join('\n')).toBe(body);
  });

  it.each([
    'const { a } = await agent(undefined)',
    ';(await agent(1))()',
    'return [...(await agent(undefined))]',
    'new (await agent(1))()',
    'const [{ a }] = [await agent(null)]',
    'Object.keys(await agent(null))',
    ';(await agent(undefined)).x',
    'await agent.missing(1)',
    'await missing(1)',
  ])('`%s` fails with the words it failed with (S-30)', async (body) => {
    const said = (ran: Promise<unknown>) => ran.catch((error: Error) => error.message);
    expect(await said(run(body))).toBe(await said(runPlain(body)));
  });

  it.each([
    'for await (const x of null);',
    'const list = undefined\nfor await (const x of list);',
    'async function* g() { yield* null }\nawait g().next()',
  ])('`%s` says what is no list, and nothing of the runtime (S-30, S-32)', async (body) => {
    await expect(run(body)).rejects.toThrow(/^(null|undefined) is not async iterable$/);
  });

  it('takes no turn more for an await, a handler or a generator', async () => {
    const body = `
      let turns = 0, stop = false
      const tick = () => { turns++; if (!stop) Promise.resolve().then(tick) }
      Promise.resolve().then(tick)
      const f = async (x) => { try { return await x } finally { await null } }
      await f(1); await f(f(2)); await agent(1); await agent(2).then((x) => x).finally(() => {})
      for await (const x of [1, agent(2)]);
      for await (const x of (async function* () { yield 1; yield* [2]; return 3 })());
      stop = true
      return turns`;
    expect(await run(body)).toBe(await runPlain(body));
  });

  it('has nothing put in where nothing waits', () => {
    expect(withoutInsertions(codeOf('const f = (x) => x\nreturn f(1)'))).toBe(
      codeOf('const f = (x) => x\nreturn f(1)'),
    );
  });

  it.each([...SCOPE_HOOKS, '$here'])('does not see %s (S-32)', async (name) => {
    expect(await run(`await agent(1)\nreturn typeof ${name}`)).toBe('undefined');
    expect(await run(`const f = async (${name}) => { await agent(1); return ${name} }\nreturn f(7)`)).toBe(7);
  });

  it('keeps what it begins with on the line of its wrapper and adds no line', () => {
    const lines = codeOf('await agent(1)\nreturn 2').split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[1]).toBe(META.trimEnd().replace('export', '      '));
    expect(lines[3]).toBe('return 2');
  });

  it('tells every column as the author counts it (S-8)', () => {
    const line = 'const x = [await agent(1), await agent(2).then((y) => y + 1)]';
    const tracked = codeOf(line).split('\n')[2] as string;
    for (const word of ['const', '[', 'await', 'agent(1)', 'agent(2)', '(y)', 'y + 1', ']']) {
      expect(authorColumn(tracked, tracked.indexOf(word) + 1), word).toBe(line.indexOf(word) + 1);
    }
    expect(authorColumn(tracked, tracked.length + 1)).toBe(line.length + 1);
  });

  it('is made of 10,000 awaits, of 900 on one another, and of 213,000 characters, in little time', () => {
    const unit =
      'const r = await pipeline([1], async (p, item) => {\n  const a = await agent(`Draft ${item}`)\n  return a\n})\n';
    const long = `{\n${unit}}\n`.repeat(Math.ceil(213_000 / (unit.length + 4)));
    codeOf(unit);
    const from = process.cpuUsage();
    codeOf('await agent(1)\n'.repeat(10_000));
    codeOf(`return ${'await '.repeat(900)}1`);
    codeOf(long);
    const { user, system } = process.cpuUsage(from);
    // About 300 ms of CPU time; the margin is for slow machines.
    expect((user + system) / 1000).toBeLessThan(3_000);
  });

  it('`await using` is refused with its place and what to do (S-6)', () => {
    const error = refused(`${META}{\n  await using x = y\n}`);
    expect(error).toMatchObject({ code: 'SCRIPT_SYNTAX', place: { line: 3, column: 3 } });
    expect(error.message).toMatch(/finally/);
  });
});
