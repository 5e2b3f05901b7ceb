import type { AnyNode } from 'acorn';

/** What a rule found; its name and the place are added by `checkScript`. */
export interface Finding {
  readonly node: AnyNode;
  readonly message: string;
}
