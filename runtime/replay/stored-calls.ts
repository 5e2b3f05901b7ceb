import type { JournalRow } from '../../protocol/journal-row.ts';
import type { StoredRow } from '../ports.ts';

/** A call that a launch made, as its events tell. */
export interface AskedCall {
  readonly key: string;
  readonly label: string;
  readonly scope: string;
  readonly promptPreview?: string;
}

/** What a journal knows of one call. */
export interface StoredCall {
  readonly key: string;
  /** Key of occurrence 0: the same for all calls of one content. */
  readonly content: string;
  readonly label: string;
  readonly scope: string;
  readonly ordinal: number;
  readonly phase: string | null;
  /** Start of the prompt, where the events told it. */
  readonly promptPreview: string | undefined;
  /** Exact JSON text of the answer; undefined when none is stored. */
  readonly resultJson: string | undefined;
  /** Why it failed, when it last did. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Its rows but for `launched`, in their order. */
  readonly rows: readonly StoredRow[];
}

type CallRow = Exclude<JournalRow, { type: 'launched' }>;

/**
 * Gives the calls of a run in the order in which its script made them.
 *
 * @param asked the calls of the last launch, in order, from its events; without them the order is the one in which agents
 * started, and a call that only an earlier launch made stands behind the others
 */
export function storedCalls(rows: readonly StoredRow[], asked: readonly AskedCall[] = []): readonly StoredCall[] {
  const rowsOf = new Map<string, StoredRow[]>();
  for (const stored of rows) {
    if (stored.row.type === 'launched') continue;
    const { key } = stored.row;
    const known = rowsOf.get(key);
    if (known === undefined) rowsOf.set(key, [stored]);
    else known.push(stored);
  }
  const about = new Map(asked.map((call) => [call.key, call]));
  const keys = new Set([...about.keys(), ...rowsOf.keys()]);
  return [...keys].map((key) => describe(key, rowsOf.get(key) ?? [], about.get(key)));
}

function describe(key: string, rows: readonly StoredRow[], asked: AskedCall | undefined): StoredCall {
  const callRows = rows.map(({ row }) => row as CallRow);
  const started = callRows.find((row) => row.type === 'started');
  const result = rows.findLast(({ row }) => row.type === 'result');
  const failed = callRows.findLast((row) => row.type === 'failed');
  const first = callRows[0];
  return {
    key,
    content: first?.content ?? key,
    label: asked?.label ?? started?.label ?? key,
    scope: asked?.scope ?? first?.scope ?? '',
    ordinal: first?.ordinal ?? 0,
    phase: started?.phase ?? null,
    promptPreview: asked?.promptPreview,
    resultJson: result?.resultJson,
    error: result === undefined ? failed?.error : undefined,
    rows,
  };
}
