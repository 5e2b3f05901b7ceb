import { z } from 'zod';

/** Where an answer comes from that no agent of the run gave: results shared by runs, or another program's run. */
export const resultSource = z.enum(['shared', 'imported']);
export type ResultSource = z.infer<typeof resultSource>;
