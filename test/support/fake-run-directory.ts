import type { CoreEvent, CoreEventType } from '../../protocol/core-event.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Clock, RunDirectory } from '../../runtime/ports.ts';

export interface FakeRunDirectory extends RunDirectory {
  readonly rows: Record<string, unknown>[];
  readonly log: CoreEvent[];
  eventsOf(type: CoreEventType): CoreEvent[];
}

/** A run directory that keeps in memory what it is told. */
export function fakeRunDirectory(clock: Clock): FakeRunDirectory {
  const rows: Record<string, unknown>[] = [];
  const log: CoreEvent[] = [];
  return {
    runId: 'wf_00000000-000',
    path: '/nowhere',
    record: {} as RunRecord,
    scriptText: '',
    argsJson: undefined,
    history: { rows: [], warnings: [] },
    rows,
    log,
    eventsOf: (type) => log.filter((event) => event.type === type),
    journal: {
      append: (row) => rows.push(row),
      appendResult: (head, resultJson) => rows.push({ ...head, result: JSON.parse(resultJson) }),
      durable: async () => {},
      close: async () => {},
    },
    events: {
      append: (type, data) => log.push({ seq: log.length + 1, at: clock.now(), type, data } as unknown as CoreEvent),
      addSink: () => {},
      flush: async () => {},
      close: async () => {},
    },
    agentFiles: {
      writeMeta: () => {},
      appendTranscript: () => {},
      transcriptPath: (agentId) => `/nowhere/agents/${agentId}.jsonl`,
      saved: async () => {},
      close: async () => {},
    },
    saveRecord: async () => {},
    saveScript: async () => {},
    saveArgs: async () => {},
    saveOutput: async () => '/nowhere/output.json',
    close: async () => {},
  };
}
