import type { JournalRow, ResultRow } from '../../protocol/journal-row.ts';
import { callKey } from '../calls/call-key.ts';
import type { StoredRow } from '../ports.ts';

/** A result that an earlier launch stored. */
export interface StoredResult {
  readonly key: string;
  readonly occurrence: number;
  readonly scope: string;
  readonly ordinal: number;
  readonly resultJson: string;
  readonly attempts: number;
  /** Where its agent's changes are, when it had a working copy of its own and left some. */
  readonly worktree?: { readonly path: string; readonly branch: string };
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

/** Where a call stands among those of its content. */
export interface CallPlace {
  readonly prompt: string;
  readonly canonicalOptions: string;
  readonly content: string;
  readonly scope: string;
  readonly ordinal: number;
}

/** What a launch runs: rows of a launch that ran the same have the scopes that its calls will have. */
export interface LaunchedProgram {
  readonly scriptSha256: string;
  readonly argsSha256: string | null;
}

interface Entry {
  stored: StoredResult;
  taken: boolean;
}

interface ContentState {
  /** By {@link placeKey}. */
  readonly byPlace: Map<string, Entry>;
  /** Results that any call may take, by rising occurrence: of another script, or from before scopes were kept. */
  readonly loose: Entry[];
  firstLoose: number;
  /** The only stored result, where there is but one. */
  only: Entry | undefined;
  /** Occurrences that are stored or given. */
  readonly used: Set<number>;
  lowestUnused: number;
  /** Calls so far, a scope each. */
  readonly calls: Map<string, number>;
}

/** A call is decided at once, when the script has come to rest, or when besides no agent works. */
export type Patience = 'none' | 'rest' | 'idle';

/** How a launch answers calls from what earlier ones stored. */
export interface Replay {
  /** Whether an earlier launch met this content. */
  knows(content: string): boolean;
  /** Gives a call its place; to be asked in call order. */
  place(prompt: string, canonicalOptions: string, scope: string): CallPlace;
  /** Whether an earlier launch started this key and left no result. */
  wasStarted(key: string): boolean;
  /** What a call is better decided after. */
  patience(place: CallPlace): Patience;
  /** Gives a call at its place its key and result. */
  decide(place: CallPlace): CallIdentity;
}

/**
 * Gives each call its key and, where an earlier launch left one, its result.
 *
 * A call takes the stored result of its content with the same scope and ordinal. Failing that it takes the one with the lowest
 * occurrence that no other call has taken, if it is from a launch of another script or other args; one of the same only where
 * it is the content's single result and the call was not started before. A call that takes none gets the smallest occurrence that its content does not
 * hold yet, in call order.
 */
export class ReplayIndex implements Replay {
  /** A content that was called once and has nothing stored is kept as the scope of that call alone: there may be 100,000. */
  readonly #contents = new Map<string, ContentState | string>();
  readonly #known = new Set<string>();
  /** Places of calls that the same program started and that have no result, by content: they are to run. */
  readonly #unfinished = new Map<string, Set<string>>();
  /** Keys that earlier launches started and left without a result. */
  readonly #started = new Set<string>();
  /** By key: a later row of the same call replaces an earlier one. */
  readonly #entries = new Map<string, Entry>();
  #taken = 0;

  /** @param program what is launched now; without it, all rows count as those of another script */
  constructor(rows: readonly StoredRow[] = [], program?: LaunchedProgram) {
    let isSame = false;
    for (const stored of rows) {
      if (stored.row.type === 'launched') isSame = stored.row.scopes === 1 && runsTheSame(stored.row, program);
      else this.#load(stored, isSame);
    }
    for (const state of this.#contents.values()) {
      if (typeof state !== 'string') state.loose.sort((a, b) => a.stored.occurrence - b.stored.occurrence);
    }
  }

  /** Stored results that no call has taken yet. */
  get untaken(): number {
    return this.#entries.size - this.#taken;
  }

  knows(content: string): boolean {
    return this.#known.has(content);
  }

  wasStarted(key: string): boolean {
    return this.#started.has(key);
  }

  place(prompt: string, canonicalOptions: string, scope: string): CallPlace {
    const content = callKey(prompt, canonicalOptions, 0);
    const seen = this.#contents.get(content);
    if (seen === undefined) {
      this.#contents.set(content, scope);
      return { prompt, canonicalOptions, content, scope, ordinal: 0 };
    }
    const state = typeof seen === 'string' ? this.#expand(content, seen) : seen;
    const ordinal = state.calls.get(scope) ?? 0;
    state.calls.set(scope, ordinal + 1);
    return { prompt, canonicalOptions, content, scope, ordinal };
  }

  /**
   * Where the one result that a call may take is that of another place of the same script, the call it belongs to may yet be
   * made, and a decision at once could take it away. That call is made before the script comes to rest, unless it comes after
   * an agent that works anew. Another item of a fan-out has calls of its own, so there one waits for that too; a worker that
   * takes what there is has not, and would only be kept from its work.
   */
  patience(place: CallPlace): Patience {
    const state = this.#contents.get(place.content);
    if (state === undefined || typeof state === 'string') return 'none';
    const { only } = state;
    if (only === undefined || only.taken || state.loose.length > 0 || this.#isUnfinished(place)) return 'none';
    if (state.byPlace.get(placeKey(place.scope, place.ordinal)) === only) return 'none';
    return itemsOf(place.scope) === itemsOf(only.stored.scope) ? 'rest' : 'idle';
  }

  decide(place: CallPlace): CallIdentity {
    const { prompt, canonicalOptions, content, scope, ordinal } = place;
    const state = this.#contents.get(content);
    if (state === undefined || typeof state === 'string') {
      return { key: content, content, occurrence: 0, ordinal, stored: undefined };
    }
    const stored = takeStored(state, placeKey(scope, ordinal), this.#isUnfinished(place));
    if (stored !== undefined) {
      this.#taken += 1;
      return { key: stored.key, content, occurrence: stored.occurrence, ordinal, stored };
    }
    while (state.used.has(state.lowestUnused)) state.lowestUnused += 1;
    const occurrence = state.lowestUnused;
    state.used.add(occurrence);
    const key = occurrence === 0 ? content : callKey(prompt, canonicalOptions, occurrence);
    return { key, content, occurrence, ordinal, stored: undefined };
  }

  identify(prompt: string, canonicalOptions: string, scope: string): CallIdentity {
    return this.decide(this.place(prompt, canonicalOptions, scope));
  }

  #isUnfinished({ content, scope, ordinal }: CallPlace): boolean {
    return this.#unfinished.get(content)?.has(placeKey(scope, ordinal)) ?? false;
  }

  #noteProgress(content: string, row: Exclude<JournalRow, { type: 'launched' }>): void {
    const place = placeKey(row.scope, row.ordinal ?? 0);
    let places = this.#unfinished.get(content);
    if (row.type === 'result') {
      places?.delete(place);
      if (places?.size === 0) this.#unfinished.delete(content);
      return;
    }
    if (places === undefined) {
      places = new Set();
      this.#unfinished.set(content, places);
    }
    places.add(place);
  }

  #expand(content: string, scopeOfFirst: string): ContentState {
    const state = emptyState();
    state.used.add(0);
    state.calls.set(scopeOfFirst, 1);
    this.#contents.set(content, state);
    return state;
  }

  #load({ row, resultJson }: StoredRow, isSame: boolean): void {
    if (row.type === 'launched') return;
    const content = row.content ?? row.key;
    this.#known.add(content);
    if (row.type === 'started') this.#started.add(row.key);
    else this.#started.delete(row.key);
    if (isSame) this.#noteProgress(content, row);
    if (row.type !== 'result' || resultJson === undefined) return;
    let state = this.#contents.get(content);
    if (state === undefined || typeof state === 'string') {
      state = emptyState();
      this.#contents.set(content, state);
    }
    const occurrence = row.occurrence ?? 0;
    const stored = storedResult(row, occurrence, resultJson);
    const earlier = this.#entries.get(row.key);
    if (earlier !== undefined) {
      earlier.stored = stored;
      return;
    }
    const entry: Entry = { stored, taken: false };
    this.#entries.set(row.key, entry);
    state.only = state.used.size === 0 ? entry : undefined;
    state.used.add(occurrence);
    const place = placeKey(row.scope, row.ordinal ?? 0);
    const isFirst = !state.byPlace.has(place);
    if (isFirst) state.byPlace.set(place, entry);
    if (!isSame || !isFirst) state.loose.push(entry);
  }
}

function emptyState(): ContentState {
  return {
    byPlace: new Map(),
    loose: [],
    firstLoose: 0,
    only: undefined,
    used: new Set(),
    lowestUnused: 0,
    calls: new Map(),
  };
}

/** The items of fan-outs that a scope lies in. */
function itemsOf(scope: string): string {
  return (scope.match(/\/item:\d+/g) ?? []).join('');
}

function placeKey(scope: string, ordinal: number): string {
  return `${ordinal} ${scope}`;
}

function runsTheSame(launched: LaunchedProgram, program: LaunchedProgram | undefined): boolean {
  return launched.scriptSha256 === program?.scriptSha256 && launched.argsSha256 === program.argsSha256;
}

function storedResult(row: ResultRow, occurrence: number, resultJson: string): StoredResult {
  return {
    key: row.key,
    occurrence,
    scope: row.scope,
    ordinal: row.ordinal ?? 0,
    resultJson,
    attempts: row.attempts,
    ...(row.worktree === undefined ? {} : { worktree: row.worktree }),
  };
}

function takeStored(state: ContentState, place: string, isUnfinished: boolean): StoredResult | undefined {
  const own = state.byPlace.get(place);
  if (own?.taken === false) return take(own);
  for (let at = state.firstLoose; at < state.loose.length; at += 1) {
    state.firstLoose = at + 1;
    const entry = state.loose[at] as Entry;
    if (!entry.taken) return take(entry);
  }
  return state.only?.taken === false && !isUnfinished ? take(state.only) : undefined;
}

function take(entry: Entry): StoredResult {
  entry.taken = true;
  return entry.stored;
}
