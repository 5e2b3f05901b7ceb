import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { LayoutPlace } from './transcript-layout.ts';

/** Where a run is filed: the folder of its session, and the session's id. */
export interface SessionPlace {
  readonly sessionId: string;
  /** Absolute. */
  readonly directory: string;
}

/** Finds the folder of a run's session below the folder of its project. */
export function sessionPlace({ projectsDirectory, sessionId }: LayoutPlace, { cwd, runId }: RunRecord): SessionPlace {
  const session = sessionId ?? sessionIdOf(runId);
  return { sessionId: session, directory: join(projectsDirectory, projectSlug(cwd), session) };
}

/** Name of a project's folder: its path, with a hyphen for all that is no letter or digit. */
function projectSlug(cwd: string): string {
  return cwd.replace(/[^A-Za-z0-9]/g, '-');
}

/** A UUID (version 8) that is the same for every launch of a run. */
function sessionIdOf(runId: string): string {
  const digits = hash('sha256', runId, 'hex');
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`];
  return [...parts, digits.slice(20, 32)].join('-');
}
