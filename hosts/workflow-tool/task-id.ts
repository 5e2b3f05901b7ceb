import { lineUuid } from '../../emitters/stream-json/line-uuid.ts';

/**
 * Gives the id of one launch's task. Source: spec E-8. A run that is resumed in the session that started it is another
 * task, with an end of its own, so the id counts launches.
 */
export function taskId(dialect: 'claude' | 'cbc', runId: string, launch: number): string {
  if (dialect === 'cbc') return lineUuid(`task ${runId}`, launch, 0);
  return launch === 1 ? runId : `${runId}.${launch}`;
}
