/** Numbers from 0 to 1 that a seed decides. */
export function seededNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Text of a script and of the workflow `child` that it may call. */
export interface RandomScript {
  readonly text: string;
  readonly child: string;
}

/** Calls of one block of statements that a run may come to, at most. */
const MOST_CALLS = 40;

/**
 * Writes a script out of everything that starts work beside other work.
 *
 * Contract: each call's label is its path, which the script makes from its own variables and which no key contains; most prompts are
 * the same. Every answer is expected to begin with the label: the script gives those that do not as `bad`. A label with `!` may
 * be of a call that fails, which does not change what is called next.
 */
export function randomScript(seed: number): RandomScript {
  const writer = new ScriptWriter(seededNumbers(seed));
  const helpers = [0, 1, 2].map((level) => writer.helper(level));
  const body = writer.block(3, 3, MOST_CALLS);
  return {
    text: [
      `export const meta = { name: 'random', description: 'seed ${seed}' }`,
      'const bad = []',
      'const got = (label, value) => { if (value !== null && !String(value).startsWith(label + "#")) bad.push([label, value]) }',
      ...helpers,
      "const p = ''",
      body,
      'return bad',
    ].join('\n'),
    child: [
      "export const meta = { name: 'child', description: 'a nested one' }",
      'const bad = []',
      'const got = (label, value) => { if (value !== null && !String(value).startsWith(label + "#")) bad.push([label, value]) }',
      'const p = args',
      new ScriptWriter(seededNumbers(seed + 0.5)).block(1, 0, 5),
      'return bad',
    ].join('\n'),
  };
}

class ScriptWriter {
  readonly #random: () => number;
  #number = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Three functions that start work: async, not async, a generator. They call those of lower levels. */
  helper(level: number): string {
    return [
      `async function work${level}(p) {\n${this.block(1, level, 4)}\n}`,
      `const both${level} = (p) => Promise.all([${this.#call('p')}, ${this.#chain('p')}])`,
      `async function* steps${level}(p) {\n${this.block(1, level, 2)}\nyield 0\n${this.block(0, level, 2)}\nyield 1\n}`,
    ].join('\n');
  }

  block(depth: number, level: number, most: number): string {
    const lines: string[] = [];
    const count = 1 + this.#below(3);
    for (let at = 0; at < count; at += 1) lines.push(this.#statement(depth, level, most / count));
    return lines.join('\n');
  }

  #statement(depth: number, level: number, most: number): string {
    const kinds = most < 2 || depth === 0 ? 2 : most < 6 ? 6 : 16;
    const path = this.#path();
    const items = 2 + this.#below(2);
    const inner = (name = 'i', share = items): string =>
      `{ const q = p; { const p = q + '${path}.' + ${name}\n${this.block(depth - 1, level, most / share)}\n} }`;
    const list = `[${Array.from({ length: items }, (_, at) => at).join(', ')}]`;
    switch (this.#below(kinds)) {
      case 0:
        return `await ${this.#call('p')}`;
      case 1:
        return `await ${this.#chain('p')}`;
      case 2:
        return `for (let i = 0; i < ${items}; i++) ${inner()}`;
      case 3:
        return `try ${inner("'t'", 3)} catch ${inner("'c'", 3)} finally ${inner("'f'", 3)}`;
      case 4:
        return `try { throw await ${this.#call('p')} } catch ${inner("'c'", 1)}`;
      case 5:
        return level === 0 ? `await ${this.#chain('p')}` : `await ${this.#work(level)}(p + '${path}')`;
      case 6:
      case 7:
        return `await parallel(${list}.map((i) => async () => ${inner()}))`;
      case 8:
        return `await parallel(${list}.map((i) => () => ${this.#call(`p + '${path}.' + i`)}))`;
      case 9:
      case 10:
        return `await pipeline(${list}, async (v, i) => ${inner()}, (v, item, i) => ${this.#chain(`p + '${path}.' + i`)}, async (v, item, i) => ${inner()})`;
      case 11:
        return `await Promise.all(${list}.map(async (i) => ${inner()}))`;
      case 12:
        return `const u${path} = (async (i) => ${inner('i', 2)})(0)\n${this.block(depth - 1, level, most / 2)}\nawait u${path}`;
      case 13:
        return `await new Promise((done) => { setTimeout(async () => { await ${this.#call('p')}; ${inner("'x'", 1)} done() }, ${this.#below(2)}); queueMicrotask(() => ${this.#call('p')}) })`;
      case 14:
        return level === 0
          ? `for (const i of ${list}) await ${this.#chain(`p + '${path}.' + i`)}`
          : `for await (const i of steps${this.#below(level)}(p + '${path}')) ${inner()}`;
      default:
        return `bad.push(...(await workflow('child', p + '${path}') ?? []))`;
    }
  }

  #work(level: number): string {
    return `${this.#random() < 0.5 ? 'work' : 'both'}${this.#below(level)}`;
  }

  #call(of: string): string {
    const mayFail = this.#random() < 0.15;
    const label = `${of} + '${this.#path()}${mayFail ? '!' : ''}'`;
    const prompt = this.#random() < 0.8 ? `'${this.#pick(['judge', 'judge', 'draft'])}'` : `'about ' + ${of}`;
    const call = `agent(${prompt}, { label: ${label} })${mayFail ? '.catch(() => null)' : ''}`;
    return this.#random() < 0.5
      ? `${call}.then((v) => got(${label}, v))`
      : `(async (p) => got(${label}, await ${call}))(p)`;
  }

  #chain(of: string): string {
    const next = this.#pick(['then', 'finally']);
    return `${this.#call(of)}.${next}(() => ${this.#call(of)}).then(async () => { await ${this.#call(of)}; await ${this.#call(of)} })`;
  }

  #path(): string {
    this.#number += 1;
    return `s${this.#number.toString(36)}`;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }
}
