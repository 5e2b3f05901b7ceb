import type { RunOutput, RunRecord } from '../../protocol/run-record.ts';
import type { AgentMeta, Clock, TranscriptRow } from '../../runtime/ports.ts';

/** How the files of agents are named and written. */
export interface TranscriptForm {
  /** Absolute path of the folder that they are in. */
  readonly directory: string;
  /** Name of an agent's files, without their endings. */
  fileName(agentId: string): string;
  /** What the file beside the transcript says. */
  meta(meta: AgentMeta): Readonly<Record<string, unknown>>;
  /** The rows that stand for one of ours; none for what the form has no place for. Called in order. */
  rows(agentId: string, row: TranscriptRow): readonly Readonly<Record<string, unknown>>[];
}

/** A file of a run beside those of its agents. */
export interface LayoutFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** One run, as another program would have filed it. Source: spec H-19. */
export interface RunLayout {
  readonly form: TranscriptForm;
  /** Written when the run starts. */
  filesAtStart(scriptText: string): readonly LayoutFile[];
  /** Written when the run has ended. `resultJson` and `argsJson` are undefined where there is none. */
  filesAtEnd(end: {
    readonly record: RunRecord;
    readonly scriptText: string;
    readonly argsJson: string | undefined;
    readonly output: Omit<RunOutput, 'result'>;
    readonly resultJson: string | undefined;
  }): readonly LayoutFile[];
}

/** Opens the layout of a run; called once a launch. */
export type TranscriptLayout = (run: RunRecord, clock: Pick<Clock, 'now'>) => RunLayout;

export interface LayoutPlace {
  /** Where the other program keeps what it knows of projects; absolute. */
  readonly projectsDirectory: string;
  /** The conversation that starts the runs. @defaultValue each run is one of its own, with an id made from its own */
  readonly sessionId?: string | undefined;
}
