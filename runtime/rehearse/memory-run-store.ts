import type { CoreEvent } from '../../protocol/core-event.ts';
import type { JournalRow } from '../../protocol/journal-row.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { EventLog, EventSink, JournalStore, RunDirectory, RunStore, StoredRow } from '../ports.ts';

/** Told of what a run writes down, in order, as it does. */
export interface MemoryListener {
  onRow?(row: JournalRow): void;
  onEvent?(event: CoreEvent): void;
}

/** A store that lives and dies with the process. */
export interface MemoryRunStore extends RunStore {
  /** Tells a listener of all runs until the function that it gives is called. */
  listen(listener: MemoryListener): () => void;
  /** The rows of a run, live. */
  rowsOf(runId: string): readonly StoredRow[];
}

interface MemoryRun {
  record: RunRecord;
  scriptText: string;
  argsJson: string | undefined;
  readonly rows: StoredRow[];
}

/** Keeps runs in memory: nothing is written to the disk, and transcripts are dropped. */
export function createMemoryRunStore(): MemoryRunStore {
  const listeners = new Set<MemoryListener>();
  const tell: Required<MemoryListener> = {
    onRow(row) {
      for (const listener of listeners) listener.onRow?.(row);
    },
    onEvent(event) {
      for (const listener of listeners) listener.onEvent?.(event);
    },
  };
  const runs = new Map<string, MemoryRun>();
  const runOf = (runId: string): MemoryRun => {
    const run = runs.get(runId);
    if (run === undefined) throw new WorkflowError('REPLAY_RUN_UNKNOWN', `There is no run "${runId}" in memory.`);
    return run;
  };
  return {
    root: '/memory',
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    rowsOf: (runId) => runOf(runId).rows,
    async create({ record, scriptText, argsJson }) {
      const runId = `wf_${(runs.size + 1).toString(16).padStart(8, '0')}-000`;
      const run: MemoryRun = { record: { ...record, runId }, scriptText, argsJson, rows: [] };
      runs.set(runId, run);
      return openRun(run, tell);
    },
    async open(runId) {
      return openRun(runOf(runId), tell);
    },
  };
}

function openRun(run: MemoryRun, tell: Required<MemoryListener>): RunDirectory {
  const { runId } = run.record;
  return {
    runId,
    path: `/memory/runs/${runId}`,
    get record() {
      return run.record;
    },
    get scriptText() {
      return run.scriptText;
    },
    get argsJson() {
      return run.argsJson;
    },
    history: { rows: [...run.rows], warnings: [] },
    journal: memoryJournal(run, tell),
    events: memoryEvents(tell),
    agentFiles: {
      writeMeta() {},
      appendTranscript() {},
      transcriptPath: (agentId) => `/memory/runs/${runId}/agents/${agentId}.jsonl`,
      async saved() {},
      async close() {},
    },
    async saveRecord(record) {
      run.record = record;
    },
    async saveScript(text) {
      run.scriptText = text;
    },
    async saveArgs(argsJson) {
      run.argsJson = argsJson;
    },
    saveOutput: async () => `/memory/runs/${runId}/output.json`,
    async close() {},
  };
}

function memoryJournal({ rows }: MemoryRun, { onRow }: Required<MemoryListener>): JournalStore {
  return {
    append(row) {
      rows.push({ row });
      onRow(row);
    },
    appendResult(head, resultJson) {
      const row = head as JournalRow;
      rows.push({ row, resultJson });
      onRow(row);
    },
    async durable() {},
    async close() {},
  };
}

function memoryEvents({ onEvent }: Required<MemoryListener>): EventLog {
  const sinks: EventSink[] = [];
  let seq = 0;
  return {
    append(type, data) {
      seq += 1;
      const event = { seq, at: 0, type, data } as unknown as CoreEvent;
      onEvent(event);
      for (const sink of sinks) sink.handle(event);
    },
    addSink: (sink) => void sinks.push(sink),
    async flush() {},
    async close() {},
  };
}
