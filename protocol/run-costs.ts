import { z } from 'zod';

const cost = z.number().min(0).nullable();

/** What a launch spent, in US dollars; null where it is not known. Absent where agents cost nothing. */
export const runCostsSchema = z.object({
  /** Day of the prices by which usage was priced whose cost no backend told. */
  prices_as_of: z.string(),
  phases: z.array(z.object({ title: z.string(), cost_usd: cost })),
  /** The dearest agents, at most 100. */
  agents: z.array(z.object({ label: z.string(), cost_usd: cost })).optional(),
  /** Models without a known price. */
  unpriced_models: z.array(z.string()).optional(),
});
export type RunCosts = z.infer<typeof runCostsSchema>;
