import { authorSource } from './author-files.ts';
import { defineProperty } from './primordials.ts';

/** Makes `toString()` of functions show what the author wrote, without what the runtime has put in. */
export function tameFunctionSource(): void {
  const tamed = {
    toString(this: unknown): string {
      return authorSource(this);
    },
  };
  defineProperty(Function.prototype, 'toString', { value: tamed.toString, writable: true, configurable: true });
}
