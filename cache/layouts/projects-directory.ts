import { join } from 'node:path';

/** Programs whose way of filing transcripts can be followed. Source: spec H-19. */
export type ForeignLayoutName = 'claude' | 'cbc';

/** Folder in which that program files the sessions of all projects; absolute. */
export function projectsDirectory(
  name: ForeignLayoutName,
  env: Readonly<Record<string, string | undefined>>,
  homeDirectory: string,
): string {
  switch (name) {
    case 'claude':
      return join(env['CLAUDE_CONFIG_DIR'] || join(homeDirectory, '.claude'), 'projects');
    case 'cbc':
      return join(env['CODEBUDDY_CONFIG_DIR'] || join(homeDirectory, '.codebuddy'), 'projects');
  }
}
