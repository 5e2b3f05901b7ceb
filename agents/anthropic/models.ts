import type { AgentOptions } from '../../runtime/ports.ts';

type Effort = NonNullable<AgentOptions['effort']>;

/** Short names of models and the ids they stand for. Source: spec A-25; ids as listed by the SDK this package depends on. */
const MODEL_ALIASES: Readonly<Record<string, string>> = {
  haiku: 'claude-haiku-5-5',
  sonnet: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
};

export const DEFAULT_MODEL = 'sonnet';

/** Models that take fewer levels of effort than the five; all others are sent what was asked for. */
const EFFORTS_OF_OLDER_MODELS: readonly { readonly model: RegExp; readonly efforts: readonly Effort[] }[] = [
  { model: /^claude-3|^claude-(?:haiku|sonnet)-4-5|^claude-(?:opus|sonnet)-4(?:-[01])?(?:-\d{8})?$/, efforts: [] },
  { model: /^claude-opus-4-5/, efforts: ['low', 'medium', 'high'] },
  { model: /^claude-(?:opus|sonnet)-4-6/, efforts: ['low', 'medium', 'high', 'max'] },
];

const ALL_EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Resolves an alias; any other id is passed through. */
export function resolveModel(name: string): string {
  return Object.hasOwn(MODEL_ALIASES, name) ? (MODEL_ALIASES[name] ?? name) : name;
}

/** Gives the highest effort the model takes that is not above the one asked for; undefined when it takes none. */
export function effortFor(model: string, asked: Effort): Effort | undefined {
  const efforts = EFFORTS_OF_OLDER_MODELS.find((entry) => entry.model.test(model))?.efforts ?? ALL_EFFORTS;
  const ceiling = ALL_EFFORTS.indexOf(asked);
  return efforts.findLast((effort) => ALL_EFFORTS.indexOf(effort) <= ceiling);
}
