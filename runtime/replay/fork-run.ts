import type { RunRecord } from '../../protocol/run-record.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { ResultRowHead, RunStore, StoredRow } from '../ports.ts';
import { parseAuthorScript } from '../prepare-run.ts';
import { type AskedCall, type StoredCall, storedCalls } from './stored-calls.ts';

/** What a fork is made from: a stored run, at rest or at work. */
export interface ForkSource {
  readonly record: RunRecord;
  readonly scriptText: string;
  readonly argsJson: string | undefined;
  readonly rows: readonly StoredRow[];
  /** The calls of its last launch in order, from its events. @defaultValue the order in which agents started */
  readonly asked?: readonly AskedCall[];
}

export interface ForkOptions {
  /**
   * The first call that the new run does not share: a label, a scope, or a scope that it lies in. It and all calls after
   * it, in call order, run live. @defaultValue all answers are shared
   */
  readonly from?: string;
  /** An edited script; the next launch says that it is one. @defaultValue the script of the old run */
  readonly edit?: { readonly text: string; readonly fileName: string; readonly path?: string };
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface ForkedRun {
  readonly runId: string;
  /** Answers that the new run has. */
  readonly shared: number;
  /** Answers of the old run that it does not have. */
  readonly left: number;
}

/**
 * Makes a new run that has the answers of another up to a point. It has not been launched: resuming it runs the script,
 * edited or not. The old run is only read.
 *
 * @throws USAGE_INVALID when no call has the label or scope of `from`; SCRIPT_… when the edited script is invalid;
 * STATE_UNWRITABLE. Nothing has been made then.
 */
export async function forkRun(store: RunStore, source: ForkSource, options: ForkOptions): Promise<ForkedRun> {
  const calls = storedCalls(source.rows, source.asked);
  const answered = calls.filter(({ resultJson }) => resultJson !== undefined);
  const shared = sharedCalls(calls, options.from).filter(({ resultJson }) => resultJson !== undefined);
  const { edit } = options;
  const scriptText =
    edit === undefined ? source.scriptText : parseAuthorScript({ script: edit.text, fileName: edit.fileName }).source;
  const directory = await store.create({
    record: forkedRecord(source.record, options),
    scriptText,
    argsJson: source.argsJson,
  });
  try {
    for (const { row, resultJson } of rowsInOrder(source.rows, shared)) {
      if (row.type === 'launched') directory.journal.append({ ...row, runId: directory.runId });
      else if (row.type !== 'result') directory.journal.append(row);
      else if (resultJson !== undefined) directory.journal.appendResult(unpaid(row as ResultRowHead), resultJson);
    }
    await directory.journal.durable();
    return { runId: directory.runId, shared: shared.length, left: answered.length - shared.length };
  } finally {
    await directory.close();
  }
}

/** The other run has paid for it. */
function unpaid({ usage, ...row }: ResultRowHead): ResultRowHead {
  const { cost_usd: _cost, ...tokens } = usage;
  return { ...row, usage: tokens };
}

function sharedCalls(calls: readonly StoredCall[], from: string | undefined): readonly StoredCall[] {
  if (from === undefined) return calls;
  const at = calls.findIndex(({ label, scope }) => label === from || scope === from || scope.startsWith(`${from}/`));
  if (at >= 0) return calls.slice(0, at);
  const labels = [...new Set(calls.map(({ label }) => label))];
  const known = labels.slice(0, 10).map((label) => JSON.stringify(label));
  const more = labels.length > known.length ? ` and ${labels.length - known.length} more` : '';
  throw new WorkflowError(
    'USAGE_INVALID',
    `no call of the run has the label or the scope ${JSON.stringify(from)}; its labels are ${known.join(', ') || 'none'}${more}`,
    { data: { from, labels: labels.slice(0, 100) } },
  );
}

/**
 * The rows of some calls in the order of their journal, between the launches that they belong to: what a launch ran says
 * which calls may take its answers.
 */
function rowsInOrder(rows: readonly StoredRow[], calls: readonly StoredCall[]): readonly StoredRow[] {
  const wanted = new Set(calls.flatMap((call) => call.rows));
  return rows.filter(
    (stored) => stored.row.type === 'launched' || (wanted.has(stored) && stored.row.type !== 'failed'),
  );
}

/**
 * A run that nobody has launched yet reads as interrupted: its record says running, and no process holds it. The hashes
 * stay those of the last launch, so that the next one sees that the script was edited.
 */
function forkedRecord(record: RunRecord, { from, now, edit }: ForkOptions): Omit<RunRecord, 'runId'> {
  const { runId, finishedAt: _f, error: _e, census: _c, usage: _u, owner: _o, scriptPath, ...kept } = record;
  const path = edit === undefined ? scriptPath : edit.path;
  return {
    ...kept,
    ...(path === undefined ? {} : { scriptPath: path }),
    ...(edit === undefined ? {} : { scriptFileName: edit.fileName }),
    status: 'running',
    createdAt: now,
    updatedAt: now,
    options: { ...record.options, forkedFrom: { runId, ...(from === undefined ? {} : { from }) } },
  };
}
