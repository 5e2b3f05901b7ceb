import type { VariantKind } from '../../runtime/rehearse/rehearsal.ts';

export const DEFAULT_ORDERS = 8;

/** Options of `wf test`, as typed. */
export interface TestFlags {
  readonly args?: string;
  readonly arg?: readonly string[];
  readonly responses?: string;
  readonly seed: number;
  readonly orders: number;
  readonly maxVariants: number;
  readonly only?: readonly { readonly kind: VariantKind; readonly number?: number }[];
  readonly ignore?: readonly string[];
  readonly jobs: number;
  /** Seconds. */
  readonly timeout: number;
  readonly concurrency?: number;
  readonly budget?: number;
  readonly maxAgents?: number;
  readonly maxDepth?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}
