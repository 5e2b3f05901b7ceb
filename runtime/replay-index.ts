import type { ResultRow } from '../protocol/journal-row.ts';
import { callKey } from './call-key.ts';
import type { StoredRow } from './ports.ts';

/** A result that an earlier launch stored. */
export interface StoredResult {
  readonly key: string;
  readonly occurrence: number;
  readonly scope: string;
  readonly ordinal: number;
  readonly resultJson: string;
  readonly attempts: number;
}

/** The identity a call was given. */
export interface CallIdentity {
  readonly key: string;
  /** Key of occurrence 0: the same for all calls of one content. */
  readonly content: string;
  readonly occurrence: number;
  /** Counts the calls of this content within the scope, from 0. */
  readonly ordinal: number;
  /** The stored result that this call takes; undefined when it must run. */
  readonly stored: StoredResult | undefined;
}

interface ContentState {
  /** Stored results that no call has taken yet, by rising occurrence. */
  readonly free: StoredResult[];
  /** Occurrences that are stored or given. */
  readonly used: Set<number>;
  /** Calls so far, a scope each. */
  readonly calls: Map<string, number>;
}

/**
 * Gives each call its key and, where an earlier launch left one, its result.
 *
 * A call takes the stored result of its content with the same scope and ordinal; else the one with the lowest occurrence
 * that no other call has taken. One that takes none gets the smallest occurrence that its content does not hold
 * yet, in call order.
 */
export class ReplayIndex {
  /** A content that was called once and has nothing stored is kept as the scope of that call alone: there may be 100,000. */
  readonly #contents = new Map<string, ContentState | string>();
  readonly #known = new Set<string>();

  constructor(rows: readonly StoredRow[] = []) {
    for (const stored of rows) this.#load(stored);
    for (const state of this.#contents.values()) {
      if (typeof state !== 'string') state.free.sort((a, b) => a.occurrence - b.occurrence);
    }
  }

  /** Contents with a stored row of any kind; 0 for a fresh run. */
  get size(): number {
    return this.#known.size;
  }

  /** Whether an earlier launch met this content. */
  knows(content: string): boolean {
    return this.#known.has(content);
  }

  identify(prompt: string, canonicalOptions: string, scope: string): CallIdentity {
    const content = callKey(prompt, canonicalOptions, 0);
    const seen = this.#contents.get(content);
    if (seen === undefined) {
      this.#contents.set(content, scope);
      return { key: content, content, occurrence: 0, ordinal: 0, stored: undefined };
    }
    const state = typeof seen === 'string' ? this.#expand(content, seen) : seen;
    const ordinal = state.calls.get(scope) ?? 0;
    state.calls.set(scope, ordinal + 1);
    const stored = takeStored(state, scope, ordinal);
    if (stored !== undefined) return { key: stored.key, content, occurrence: stored.occurrence, ordinal, stored };
    let occurrence = 0;
    while (state.used.has(occurrence)) occurrence += 1;
    state.used.add(occurrence);
    const key = occurrence === 0 ? content : callKey(prompt, canonicalOptions, occurrence);
    return { key, content, occurrence, ordinal, stored: undefined };
  }

  #expand(content: string, scopeOfFirst: string): ContentState {
    const state: ContentState = { free: [], used: new Set([0]), calls: new Map([[scopeOfFirst, 1]]) };
    this.#contents.set(content, state);
    return state;
  }

  #load({ row, resultJson }: StoredRow): void {
    if (row.type === 'launched') return;
    const content = row.content ?? row.key;
    this.#known.add(content);
    if (row.type !== 'result' || resultJson === undefined) return;
    let state = this.#contents.get(content);
    if (state === undefined || typeof state === 'string') {
      state = { free: [], used: new Set(), calls: new Map() };
      this.#contents.set(content, state);
    }
    const occurrence = row.occurrence ?? 0;
    if (state.used.has(occurrence)) return;
    state.used.add(occurrence);
    state.free.push(storedResult(row, occurrence, resultJson));
  }
}

function storedResult(row: ResultRow, occurrence: number, resultJson: string): StoredResult {
  return {
    key: row.key,
    occurrence,
    scope: row.scope,
    ordinal: row.ordinal ?? 0,
    resultJson,
    attempts: row.attempts,
  };
}

function takeStored(state: ContentState, scope: string, ordinal: number): StoredResult | undefined {
  if (state.free.length === 0) return undefined;
  const own = state.free.findIndex((result) => result.scope === scope && result.ordinal === ordinal);
  const [taken] = state.free.splice(Math.max(own, 0), 1);
  return taken;
}
