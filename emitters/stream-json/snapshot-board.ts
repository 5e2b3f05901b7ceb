import type { CoreEvent, CoreEventData } from '../../protocol/core-event.ts';
import { preview } from '../../protocol/preview.ts';
import type { StreamJsonDialect } from '../../protocol/stream-json.ts';
import {
  type AgentRow,
  createAgentRow,
  type RowBytes,
  type RowChange,
  renderRow,
  rowActive,
  rowBytes,
  rowCached,
  rowChangeJson,
  rowEndedWithRun,
  rowFinished,
  rowJson,
  rowStarted,
  rowTool,
  rowWritten,
} from './agent-row.ts';

const TITLE_CHARACTERS = 200;

/**
 * Phases and agents of one task, ready to be written as a snapshot or as changes.
 *
 * Contract:
 * - `apply` takes constant time; nothing is serialised before `render`.
 * - An agent that ends `cancelled` is put aside until `releaseCancelled` or `endAll`: where its run ends with it, its end
 *   belongs into the last snapshot (E-10, E-11).
 */
export interface SnapshotBoard {
  apply(event: CoreEvent): RowChange;
  /** Shows cancelled agents that were put aside up to `untilMs`; tells how many. */
  releaseCancelled(untilMs: number): number;
  /** When the oldest agent was put aside. */
  oldestCancelledAtMs(): number | undefined;
  /** Gives every agent a final state. */
  endAll(atMs: number, how: 'stopped' | 'completed', reason: string): void;
  /** Serialises what changed. Sizes and texts below are those of the last `render`. */
  render(): RowBytes;
  snapshot(withPreviews: boolean): readonly string[];
  changes(): readonly string[];
  /** Notes that the changes were written. */
  written(): void;
  /** Agents in no final state. */
  readonly openAgents: number;
  readonly agentCount: number;
  readonly finishedAgents: number;
  /** State changes that known agents can still make. */
  readonly stateChangesToCome: number;
  /** State changes that no line shows yet. */
  readonly stateChangesWaiting: number;
  readonly hasChanges: boolean;
  readonly lastToolName: string | undefined;
  readonly totalTokens: number;
  /** US dollars; null when it is not known. */
  readonly costUsd: number | null;
  readonly toolUses: number;
}

interface Phase {
  readonly title: string;
  readonly kind: 'child' | undefined;
}

interface Cancelled {
  readonly atMs: number;
  readonly row: AgentRow;
  readonly data: CoreEventData<'agent.finished'>;
}

class Board implements SnapshotBoard {
  readonly #dialect: StreamJsonDialect;
  readonly #phases: Phase[] = [];
  readonly #newPhases = new Set<number>();
  readonly #rows: AgentRow[] = [];
  /** Agents that may still change, by key. */
  readonly #open = new Map<string, AgentRow>();
  readonly #changed = new Set<AgentRow>();
  #cancelled: Cancelled[] = [];
  readonly #sums = { rich: 0, lean: 0, floor: 0 };
  finishedAgents = 0;
  stateChangesToCome = 0;
  stateChangesWaiting = 0;
  lastToolName: string | undefined;
  totalTokens = 0;
  costUsd: number | null = 0;
  toolUses = 0;

  constructor(dialect: StreamJsonDialect, phaseTitles: readonly string[]) {
    this.#dialect = dialect;
    phaseTitles.forEach((title, at) => {
      this.#addPhase(at + 1, title, undefined);
    });
  }

  get agentCount(): number {
    return this.#rows.length;
  }

  get openAgents(): number {
    return this.#rows.length - this.finishedAgents;
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0 || this.#newPhases.size > 0;
  }

  apply(event: CoreEvent): RowChange {
    switch (event.type) {
      case 'phase.started':
        return this.#addPhase(event.data.index, event.data.title, event.data.kind) ? 'major' : 'none';
      case 'agent.queued':
        this.#addAgent(event.data, event.at);
        return 'major';
      case 'agent.cached': {
        const row = this.#addAgent(event.data, event.at);
        this.#end(row, event.data.key, () => rowCached(row, event.at, event.data));
        return 'major';
      }
      case 'agent.finished':
        return this.#finish(event.data, event.at);
      case 'agent.started':
        return this.#change(event.data.key, (row) => rowStarted(row, event.at, event.data.attempt));
      case 'agent.active':
        return this.#change(event.data.key, (row) => rowActive(row, event.at));
      case 'agent.tool':
        if (event.data.status === 'started') this.toolUses++;
        this.lastToolName = preview(event.data.name, 80);
        return this.#change(event.data.key, (row) => rowTool(row, event.at, event.data));
      case 'agent.retrying': // the attempt that follows is told by its `agent.started`
      case 'run.started':
      case 'run.finished':
      case 'part.failed':
      case 'log':
      case 'limit':
        return 'none';
      default:
        event satisfies never; // a type of a newer log
        return 'none';
    }
  }

  releaseCancelled(untilMs: number): number {
    const due = this.#cancelled.filter(({ atMs }) => atMs <= untilMs);
    this.#cancelled = this.#cancelled.filter(({ atMs }) => atMs > untilMs);
    for (const { row, data, atMs } of due) {
      this.#end(row, data.key, () => rowFinished(row, atMs, data));
    }
    return due.length;
  }

  oldestCancelledAtMs(): number | undefined {
    return this.#cancelled[0]?.atMs;
  }

  endAll(atMs: number, how: 'stopped' | 'completed', reason: string): void {
    for (const { row, data, atMs: cancelledAtMs } of this.#cancelled) {
      this.#end(row, data.key, () => rowEndedWithRun(row, cancelledAtMs, how, reason, data));
    }
    this.#cancelled = [];
    for (const [key, row] of this.#open) {
      this.#end(row, key, () => rowEndedWithRun(row, atMs, how, reason));
    }
  }

  render(): RowBytes {
    for (const row of this.#changed) {
      renderRow(row);
      const before = row.counted;
      const now = rowBytes(row);
      this.#sums.rich += now.rich - before.rich;
      this.#sums.lean += now.lean - before.lean;
      this.#sums.floor += now.floor - before.floor;
      row.counted = now;
    }
    const phases = this.#phases.reduce((sum, _, at) => sum + Buffer.byteLength(this.#phaseJson(at)) + 1, 0);
    return {
      rich: this.#sums.rich + phases,
      lean: this.#sums.lean + phases,
      floor: this.#sums.floor + phases,
    };
  }

  snapshot(withPreviews: boolean): readonly string[] {
    return [
      ...this.#phases.map((_, at) => this.#phaseJson(at)),
      ...this.#rows.map((row) => rowJson(row, withPreviews)),
    ];
  }

  changes(): readonly string[] {
    return [
      ...[...this.#newPhases].map((at) => this.#phaseJson(at)),
      ...[...this.#changed].sort((a, b) => a.index - b.index).map(rowChangeJson),
    ];
  }

  written(): void {
    for (const row of this.#changed) rowWritten(row);
    this.#changed.clear();
    this.#newPhases.clear();
    this.stateChangesWaiting = 0;
  }

  #phaseJson(at: number): string {
    const phase = this.#phases[at];
    return JSON.stringify({
      type: 'workflow_phase',
      index: at + 1,
      title: phase?.title ?? '',
      kind: this.#dialect === 'claude' ? phase?.kind : undefined,
    });
  }

  /** Tells whether the phase is new. Indexes come in order; a gap, which a whole log has not, is filled. */
  #addPhase(index: number, title: string, kind: 'child' | undefined): boolean {
    if (index <= this.#phases.length) return false;
    while (this.#phases.length < index) {
      const isGap = this.#phases.length < index - 1;
      this.#newPhases.add(this.#phases.length);
      this.#phases.push(isGap ? { title: '', kind: undefined } : { title: preview(title, TITLE_CHARACTERS), kind });
    }
    this.stateChangesWaiting++;
    return true;
  }

  #addAgent(who: CoreEventData<'agent.queued'>, atMs: number): AgentRow {
    if (who.phaseIndex !== undefined && who.phaseTitle !== undefined) {
      this.#addPhase(who.phaseIndex, who.phaseTitle, undefined);
    }
    const row = createAgentRow(who, atMs, this.#dialect);
    this.#rows.push(row);
    this.#open.set(who.key, row);
    this.#changed.add(row);
    this.stateChangesWaiting++;
    this.stateChangesToCome += row.changesLeft;
    return row;
  }

  #change(key: string, change: (row: AgentRow) => RowChange): RowChange {
    const row = this.#open.get(key);
    if (row === undefined) return 'none';
    const left = row.changesLeft;
    const kind = change(row);
    if (kind !== 'none') this.#changed.add(row);
    if (kind === 'major') this.stateChangesWaiting++;
    this.stateChangesToCome += row.changesLeft - left;
    return kind;
  }

  #finish(data: CoreEventData<'agent.finished'>, atMs: number): RowChange {
    const row = this.#open.get(data.key);
    if (row === undefined) return 'none';
    this.totalTokens += data.inputTokens + data.outputTokens;
    if (data.costUsd !== undefined) this.#addCost(data.costUsd);
    this.toolUses += data.toolUses - (row.live?.toolCalls ?? 0);
    if (data.state === 'cancelled') {
      this.#open.delete(data.key);
      this.#cancelled.push({ atMs, row, data });
      return 'none';
    }
    this.#end(row, data.key, () => rowFinished(row, atMs, data));
    return 'major';
  }

  #addCost(costUsd: number | null): void {
    const sum = this.costUsd === null || costUsd === null ? null : this.costUsd + costUsd;
    this.costUsd = sum === null ? null : Math.round(sum * 1_000_000) / 1_000_000;
  }

  /** Books the change that makes a row final. */
  #end(row: AgentRow, key: string, change: () => void): void {
    this.stateChangesToCome -= row.changesLeft;
    change();
    this.#open.delete(key);
    this.#changed.add(row);
    this.finishedAgents++;
    this.stateChangesWaiting++;
  }
}

export function createSnapshotBoard(dialect: StreamJsonDialect, phaseTitles: readonly string[]): SnapshotBoard {
  return new Board(dialect, phaseTitles);
}
