import { SCOPE_HOOKS } from '../../dsl/wire.ts';

/** What a script's text calls the hooks of `dsl/scope-hooks.ts`, and the activation of the function around a place. */
export interface ScopeNames {
  readonly enter: string;
  readonly exit: string;
  readonly leave: string;
  readonly resume: string;
  readonly walk: string;
  readonly follow: string;
  readonly here: string;
}

const HERE = '$here';

/** Chooses names that no identifier of the script has, so that it can neither reach nor hide what they mean (S-32). */
export function chooseScopeNames(taken: ReadonlySet<string>): ScopeNames {
  let number = 1;
  const name = (base: string): string => (number === 1 ? base : `${base}${number}`);
  while ([...SCOPE_HOOKS, HERE].some((base) => taken.has(name(base)))) number += 1;
  const [enter, exit, leave, resume, walk, follow] = SCOPE_HOOKS.map(name) as unknown as readonly [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { enter, exit, leave, resume, walk, follow, here: name(HERE) };
}

/** The hooks as further parameters of the program, in the order in which they are passed. */
export function scopeParameters({ enter, exit, leave, resume, walk, follow }: ScopeNames): string {
  return `, ${[enter, exit, leave, resume, walk, follow].join(', ')}`;
}
