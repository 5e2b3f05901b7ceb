/** What a rehearsal is asked for and what it reports; see {@link rehearseWorkflow}. */
import type { AgentBackend } from '../ports.ts';
import type { RunLimits, StartOptions } from '../run-options.ts';

/**
 * What is done to one run of a rehearsal:
 * - `order`: answers come in another order.
 * - `null`: the agent of one call dies, so the call is `null`.
 * - `reject`: one call rejects, as when an agent never gave a valid answer.
 * - `bad`: one call gets the least answer that it must accept: an empty text, or the smallest value of its schema.
 * - `budget`: the budget is spent when one call is made.
 * - `kill`: the run is killed when one call's answer has been stored, and resumed.
 */
export type VariantKind = 'order' | 'null' | 'reject' | 'bad' | 'budget' | 'kill';

export const VARIANT_KINDS: readonly VariantKind[] = ['order', 'null', 'reject', 'bad', 'budget', 'kill'];

/** One run of a rehearsal. */
export interface Variant {
  readonly kind: VariantKind;
  /** Number of the call it is about, from 1 in the order of the calls of the first run; of an `order`, which one. */
  readonly number: number;
}

/**
 * What may be wrong with a script:
 * - `fails-undisturbed`: it does not complete although nothing was done to it, so nothing more was tried.
 * - `hangs`: it waits for what never comes, or does not end in time.
 * - `crashes-on-null`, `crashes-on-answer`: a TypeError or the like after a `null`, or after an answer that it must accept.
 * - `swallows-failure`: it completes, and neither its result nor its log shows that a call failed.
 * - `order-dependent`: its result, or what it asks, changes with the order in which answers come.
 * - `resume-differs`: killed and resumed it gives another result, or asks again what was answered.
 * - `limit-ignored`: it goes on calling agents after the budget refused one, or completes as if none had been refused.
 */
export type FindingKind =
  | 'fails-undisturbed'
  | 'hangs'
  | 'crashes-on-null'
  | 'crashes-on-answer'
  | 'swallows-failure'
  | 'order-dependent'
  | 'resume-differs'
  | 'limit-ignored';

export const FINDING_KINDS: readonly FindingKind[] = [
  'fails-undisturbed',
  'hangs',
  'crashes-on-null',
  'crashes-on-answer',
  'swallows-failure',
  'order-dependent',
  'resume-differs',
  'limit-ignored',
];

export interface Finding {
  readonly kind: FindingKind;
  /** A warning is what may be meant so. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Line of the author's file: where it threw, else where the call is made, as far as that can be told. */
  readonly line?: number;
  /** Names of the variants that show it, as `null:3`; empty for the undisturbed run. */
  readonly variants: readonly string[];
}

/** A call of the undisturbed run. */
export interface RehearsedCall {
  /** From 1, in the order of the calls. */
  readonly number: number;
  readonly label: string;
  readonly scope: string;
  /** Line of the `agent()` that made it; absent when more than one could have. */
  readonly line?: number;
}

export interface RehearsalOptions
  extends Pick<
    StartOptions,
    'script' | 'fileName' | 'scriptPath' | 'argsJson' | 'cwd' | 'concurrency' | 'findWorkflow' | 'schemas' | 'signal'
  > {
  /** Makes who answers the calls: once for the undisturbed run, whose answers are kept, and once for each other run. */
  readonly makeBackend: () => AgentBackend;
  /** Makes who answers what the backend has no answer for (`AGENT_NO_RESPONSE`). @defaultValue such calls are `null` */
  readonly makeStandIn?: () => AgentBackend;
  readonly limits?: Partial<RunLimits>;
  /** Decides the orders, and which variants are left out when there are too many. @defaultValue 1 */
  readonly seed?: number;
  /** Other orders of answers to try. @defaultValue 8 */
  readonly orders?: number;
  /** Variants at most; of more, a sample is taken. @defaultValue 200 */
  readonly maxVariants?: number;
  /** Only these; a kind without a number stands for all of it. @defaultValue all */
  readonly only?: readonly { readonly kind: VariantKind; readonly number?: number }[];
  /** Runs at a time. @defaultValue 3 */
  readonly jobs?: number;
  /** How long one launch may take before it counts as hanging. @defaultValue 20000 */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

export interface RehearsalReport {
  readonly seed: number;
  /** The calls of the undisturbed run; their numbers are those of the variants. */
  readonly calls: readonly RehearsedCall[];
  /** Calls of the undisturbed run that only the stand-in answered. */
  readonly standIns: number;
  /** Variants that were run, by kind. */
  readonly ran: Readonly<Record<VariantKind, number>>;
  /** Variants that there are and that were left out. */
  readonly leftOut: number;
  readonly findings: readonly Finding[];
}

/** The name of a variant, for people and for `only`. */
export function variantName({ kind, number }: Variant): string {
  return `${kind}:${number}`;
}
