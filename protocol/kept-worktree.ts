import { z } from 'zod';

/** A working copy that was kept, since an agent changed something in it. `path` is absolute. Source: spec A-30. */
export const keptWorktree = z.object({ path: z.string(), branch: z.string() });
export type KeptWorktree = z.infer<typeof keptWorktree>;
