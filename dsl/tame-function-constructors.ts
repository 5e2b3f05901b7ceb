import { defineProperty, getPrototypeOf, setPrototypeOf } from './primordials.ts';

/** Makes `eval`, `Function` and the three constructors that have no name throw EvalError (S-21). */
export function tameFunctionConstructors(): void {
  const TamedFunction = replaceConstructor(getPrototypeOf(() => {}) as object, 'Function');
  defineProperty(globalThis, 'Function', { value: TamedFunction, writable: true, configurable: true });
  for (const [prototype, name] of [
    [getPrototypeOf(async () => {}), 'AsyncFunction'],
    [getPrototypeOf(function* () {}), 'GeneratorFunction'],
    [getPrototypeOf(async function* () {}), 'AsyncGeneratorFunction'],
  ] as const) {
    setPrototypeOf(replaceConstructor(prototype as object, name), TamedFunction);
  }
  const refused = {
    eval(): never {
      throw codeFromString('eval()');
    },
  };
  defineProperty(globalThis, 'eval', { value: refused.eval, writable: true, configurable: true });
}

function replaceConstructor(prototype: object, name: string): object {
  // A declaration: an arrow function could not be called with `new`, and would throw another error.
  function Tamed(): never {
    throw codeFromString(`${name}()`);
  }
  defineProperty(Tamed, 'name', { value: name, configurable: true });
  defineProperty(Tamed, 'prototype', { value: prototype, writable: false });
  defineProperty(prototype, 'constructor', { value: Tamed, writable: true, configurable: true });
  return Tamed;
}

function codeFromString(what: string): EvalError {
  return new EvalError(
    `${what} is not available in a workflow: write the code out instead of making it from a string.`,
  );
}
