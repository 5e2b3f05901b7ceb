import { z } from 'zod';

export const phaseDeclarationSchema = z.object({
  title: z.string(),
  detail: z.string().optional(),
  /** For display only; it chooses no model. */
  model: z.string().optional(),
});

/** The literal that a script exports first. Unknown keys are ignored. Source: spec S-4. */
export const workflowMetaSchema = z.object({
  name: z.string().min(1),
  description: z.string().min(1),
  whenToUse: z.string().optional(),
  phases: z.array(phaseDeclarationSchema).optional(),
});

export type PhaseDeclaration = z.infer<typeof phaseDeclarationSchema>;
export type WorkflowMeta = z.infer<typeof workflowMetaSchema>;
