import { beforeAll, describe, expect, it } from 'vitest';
import { failure, runInSandbox, type SandboxRecord, saying } from '../unit/runtime/sandbox/run-in-sandbox.ts';

/**
 * Ways out that a script may try, one a title. Each is the body of an async function; it gives a text when it found something
 * it should not have, and may throw what a script gets when it is refused.
 */
const ROUTES: Readonly<Record<string, string>> = {
  'the constructor of a global function makes no code': 'return agent.constructor("return 1")()',
  'the constructor of an async function makes no code': 'return (async () => {}).constructor("return 1")()',
  'the constructor of a promise that agent() gave leads to no other realm':
    'const p = agent("x"); p.catch(() => {}); if (!(p instanceof Promise)) return "other realm"; return p.constructor.constructor("return 1")()',
  'an error of the host is of this realm, its data too':
    'try { await agent("FAIL") } catch (e) { if (!(e instanceof Error) || !(e.details instanceof Object)) return "other realm"; return e.constructor.constructor("return 1")() }',
  'a value of the host is of this realm':
    'const v = await agent("VALUE"); if (!(v.list instanceof Array)) return "other realm"; return v.constructor.constructor("return 1")()',
  'a __proto__ in a value of the host is a property like any other':
    'const v = await agent("PROTO"); if (({}).polluted || v.polluted === true) return "polluted"',
  'the caller of a function is not told':
    'const f = function () { return f.caller }; return [].map.call([1], f)[0]?.name',
  'arguments.callee is not told': 'return (function () { return arguments.callee.name })()',
  'a call site is not given to Error.prepareStackTrace':
    'let sites; try { Error.prepareStackTrace = (e, s) => { sites = s; return s } } catch {} ; const s = new Error("x").stack; return typeof s !== "string" || sites ? "sites" : undefined',
  'a call site is not given through captureStackTrace':
    'const o = {}; Error.captureStackTrace(o); return typeof o.stack !== "string" || /prelude|native|<anonymous>/.test(o.stack) ? String(o.stack) : undefined',
  'a subclass with its own prepareStackTrace gets no call sites':
    'class E extends Error { static prepareStackTrace(e, s) { return s } }; return typeof new E("x").stack === "string" ? undefined : "sites"',
  'Array.prototype cannot be patched under the helpers':
    'try { Array.prototype.map = () => ["mine"] } catch {}; try { Object.defineProperty(Array.prototype, "0", { set() {}, configurable: true }) } catch {}; const r = await parallel([() => 1, () => 2]); return r.join() === "1,2" ? undefined : "patched"',
  'Array.prototype[Symbol.iterator] cannot be patched under the helpers':
    'try { Array.prototype[Symbol.iterator] = function* () { yield "mine" } } catch {}; return (await pipeline([1], (x) => x))[0] === 1 ? undefined : "patched"',
  'Promise.prototype.then cannot be patched under the helpers':
    'try { Promise.prototype.then = function () { return "mine" } } catch {}; return (await parallel([() => agent("x")]))[0] === "ok" ? undefined : "patched"',
  'JSON.stringify cannot be patched under agent()':
    'try { JSON.stringify = () => "mine" } catch {}; await agent({ marker: "JSON-1" })',
  'Object.prototype.toJSON cannot be added under agent()':
    'try { Object.prototype.toJSON = () => "mine" } catch {}; await agent({ marker: "JSON-2" })',
  'an array with its own map is taken by its items':
    'const list = [() => 1]; list.map = () => ["mine"]; list.forEach = list.map; list[Symbol.iterator] = function* () { yield () => "mine" }; return (await parallel(list))[0] === 1 ? undefined : "own map"',
  'a Proxy of an array sees nothing but its own keys':
    'const seen = []; const list = new Proxy([() => 1], { get(t, k, r) { if (r !== undefined && typeof r !== "object") seen.push(typeof r); return Reflect.get(t, k) } }); await parallel(list); return seen.length ? "foreign receiver" : undefined',
  'a thenable that a thunk gives is called with functions of this realm':
    'let bad; await parallel([() => ({ then(r, j) { if (!(r instanceof Function) || r.constructor !== Function) bad = "other realm"; r(1) } })]); return bad',
  'a thenable that a stage gives cannot settle its slot twice':
    'const r = await pipeline([1], () => ({ then(r) { r(1); r(2); throw new Error("late") } })); return r.length === 1 && r[0] === 1 ? undefined : "settled twice"',
  'a getter in the options of agent() sees no foreign receiver':
    'let bad; await agent("x", { get label() { if (!(this instanceof Object)) bad = "foreign receiver"; return "l" } }); return bad',
  'a Promise subclass with its own species meets plain promises only':
    'class P extends Promise { static get [Symbol.species]() { throw new Error("asked") } }; const r = await parallel([() => P.resolve(3)]); return r[0] === 3 || r[0] === null ? undefined : "species"',
  'agent cannot be constructed': 'return String(new agent("x"))',
  'Reflect.construct does not take agent': 'return String(Reflect.construct(agent, ["x"]))',
  'agent cannot be given properties': 'agent.secret = 1; return "written"',
  'budget cannot be raised': 'budget.remaining = () => 1e9; return "written"',
  'console cannot be replaced piece by piece': 'console.log = () => {}; return "written"',
  'the clock is not in a timer':
    'return await new Promise((r) => setTimeout((...a) => r(a.length ? "given something" : undefined), 1))',
  'this is undefined in a timer':
    'return await new Promise((r) => setTimeout(function () { r(this === undefined ? undefined : "this") }, 1))',
  'this is undefined in a thunk':
    'const r = await parallel([function () { return this === undefined }]); return r[0] ? undefined : "this"',
  'setTimeout takes no text': 'setTimeout("log(1)", 1); return "taken"',
  'globalThis has no way to the host through its prototype':
    'for (let o = globalThis; o; o = Object.getPrototypeOf(o)) for (const k of Reflect.ownKeys(o)) { const v = o[k]; if ((typeof v === "function") && v.constructor !== Function) return String(k) }',
  'WebAssembly is not there': 'return typeof WebAssembly === "undefined" ? undefined : "there"',
  'shared memory is not there':
    'return typeof SharedArrayBuffer + typeof Atomics === "undefinedundefined" ? undefined : "there"',
  'garbage collection cannot be seen':
    'return typeof WeakRef + typeof FinalizationRegistry === "undefinedundefined" ? undefined : "there"',
  'the match of an earlier regular expression is not kept':
    '/(secret)/.exec("secret"); return RegExp.$1 === undefined && RegExp.lastMatch === undefined ? undefined : "kept"',
  'the engine’s console is not reachable':
    'return typeof console.context === "undefined" && typeof console.profile === "undefined" ? undefined : "there"',
  'a function that ran out of stack leaves agent() whole':
    'const down = (k) => { try { down(k + 1) } finally { if (k % 500 === 0) try { agent("").catch(() => {}) } catch {} } }; try { down(0) } catch {}; return (await agent("x")) === "ok" ? undefined : "broken"',
  'a global of the script’s own is no global of the runtime':
    'globalThis.own = 1; return typeof globalThis.openDoor === "undefined" && typeof globalThis.module === "undefined" ? undefined : "leaked"',
};

describe('a script gets out by none of these ways (S-20, S-21, S-32)', () => {
  let run: SandboxRecord;
  let found: Readonly<Record<string, string | null>>;
  beforeAll(async () => {
    const routes = Object.entries(ROUTES).map(([title, body]) => `${JSON.stringify(title)}: async () => { ${body} }`);
    run = await runInSandbox(
      `const routes = { ${routes.join(',\n')} }
      const found = {}
      for (const title in routes) {
        try { found[title] = (await routes[title]()) ?? null } catch (e) { found[title] = e instanceof Error ? null : 'threw no error of this realm' }
      }
      return found`,
      {
        agent: ({ prompt }) => {
          if (prompt === 'FAIL') return failure({ data: { details: { text: 'x' } } });
          if (prompt === 'VALUE') return { ok: true, valueJson: '{"list":[1]}' };
          if (prompt === 'PROTO') return { ok: true, valueJson: '{"__proto__":{"polluted":true}}' };
          return saying('ok');
        },
      },
    );
    found = run.value as typeof found;
  });

  for (const title of Object.keys(ROUTES)) {
    it(title, () => {
      expect(run.end.type, JSON.stringify(run.end)).toBe('returned');
      expect(found).toHaveProperty([title], null);
    });
  }

  it('the prompts that patched JSON had were written by the engine’s own', () => {
    const sent = run.agents.map(({ prompt }) => prompt);
    expect(sent).toContain('{"marker":"JSON-1"}');
    expect(sent).toContain('{"marker":"JSON-2"}');
  });
});
