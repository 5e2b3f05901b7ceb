import { atob, btoa } from './base64.ts';
import { resolved, whenSettled } from './primordials.ts';
import { fork } from './scope.ts';
import { inFrame } from './scope-hooks.ts';
import { structuredClone } from './structured-clone.ts';
import { TextDecoder, TextEncoder } from './text-encoding.ts';
import { URL } from './url/url.ts';
import { URLSearchParams } from './url/url-search-params.ts';

/**
 * Globals of other platforms that are data and no capability (S-19).
 *
 * @param fail ends the run with what a microtask threw
 */
export function pureGlobals(fail: (error: unknown) => void): Readonly<Record<string, unknown>> {
  return {
    ...withoutConstructor({ structuredClone, atob, btoa }),
    TextEncoder,
    TextDecoder,
    URL,
    URLSearchParams,
    queueMicrotask: {
      queueMicrotask(callback: unknown): void {
        if (typeof callback !== 'function') {
          throw new TypeError(`queueMicrotask() takes a function, and got a ${typeof callback}.`);
        }
        const run = inFrame(fork('timer'), callback as () => unknown);
        void whenSettled(
          whenSettled(resolved(undefined), () => void run()),
          undefined,
          fail,
        );
      },
    }.queueMicrotask,
  };
}

/** Methods have no `prototype` and cannot be called with `new`, as the platforms' own functions. */
function withoutConstructor(functions: Record<string, (value: unknown) => unknown>): Record<string, unknown> {
  const methods: Record<string, unknown> = {};
  for (const name in functions) {
    const call = functions[name] as (value: unknown) => unknown;
    methods[name] = { [name]: (value: unknown) => call(value) }[name];
  }
  return methods;
}
