import { projectsDirectory } from '../../cache/layouts/projects-directory.ts';
import type { TranscriptLayout } from '../../cache/layouts/transcript-layout.ts';
import type { CliContext } from '../cli-context.ts';

/** Names of `--layout`. `wf` is the state directory alone. */
export const LAYOUTS = ['wf', 'claude', 'cbc'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** Loads the layout that `--layout` names; undefined for `wf`. */
export async function transcriptLayout(
  name: LayoutName | undefined,
  { env, homeDirectory }: Pick<CliContext, 'env' | 'homeDirectory'>,
  sessionId?: string,
): Promise<TranscriptLayout | undefined> {
  switch (name) {
    case undefined:
    case 'wf':
      return undefined;
    case 'claude': {
      const { createClaudeLayout } = await import('../../cache/layouts/claude-layout.ts');
      return createClaudeLayout({ projectsDirectory: projectsDirectory(name, env, homeDirectory), sessionId });
    }
    case 'cbc': {
      const { createCbcLayout } = await import('../../cache/layouts/cbc-layout.ts');
      return createCbcLayout({ projectsDirectory: projectsDirectory(name, env, homeDirectory), sessionId });
    }
  }
}
