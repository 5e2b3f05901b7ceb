import type { AskedOnce } from './kill-api.ts';
import { ECHO_LENGTH } from './kill-api.ts';
import { type Evidence, type SlotAnswer, serialOf } from './kill-evidence.ts';

/** Everything that may not happen, counted. */
export interface KillFindings {
  /** Results that were stored, or that the script had seen, and are not in a later journal. */
  readonly lost: readonly string[];
  /** Keys with more than one result. */
  readonly doubled: readonly string[];
  /** Requests for calls that had a stored result. */
  readonly again: readonly string[];
  /** Slots that got another slot's answer, of those whose prompt is theirs alone. */
  readonly wrongOwners: readonly string[];
  /** The same, of those that share their prompt. */
  readonly wrongSharedOwners: readonly string[];
  /** Damage that no crash may leave. */
  readonly faults: readonly string[];
}

/**
 * Compares what a run left after each launch, the last of which completed.
 *
 * @param after what the files held after each launch
 * @param asked what was asked of the API, by serial number
 * @param result what the last launch returned, by slot
 */
export function auditRun(
  after: readonly Evidence[],
  asked: readonly AskedOnce[],
  result: Readonly<Record<string, Omit<SlotAnswer, 'slot'>>>,
): KillFindings {
  const callsOf = countBy(Object.values(result).map(({ prompt }) => prompt));
  const owners = ownersOf(after, asked, result, callsOf);
  return {
    lost: lostOf(after),
    doubled: doubledOf(after),
    again: againOf(after, asked, callsOf),
    ...owners,
    faults: after.flatMap(({ faults }) => faults),
  };
}

function lostOf(after: readonly Evidence[]): string[] {
  const lost: string[] = [];
  for (const [index, { stored, got }] of after.entries()) {
    const here = new Set(stored.map(({ serial }) => serial));
    for (const { slot, answer } of got) {
      if (!here.has(serialOf(answer))) lost.push(`launch ${index + 1}: ${slot} saw ${answer}, which is not stored`);
    }
    for (const later of after.slice(index + 1)) {
      const there = new Map(later.stored.map(({ key, json }) => [key, json]));
      for (const { key, json } of stored) {
        if (there.get(key) !== json) lost.push(`launch ${index + 1}: ${json.slice(0, 60)} is gone later`);
      }
    }
  }
  return [...new Set(lost)];
}

function doubledOf(after: readonly Evidence[]): string[] {
  const counts = countBy(after.at(-1)?.stored.map(({ key }) => key) ?? []);
  return [...counts].filter(([, count]) => count > 1).map(([key, count]) => `${key} has ${count} results`);
}

/** A launch may ask once for each call of a prompt that had no stored result when it began. */
function againOf(
  after: readonly Evidence[],
  asked: readonly AskedOnce[],
  callsOf: ReadonlyMap<string, number>,
): string[] {
  const again: string[] = [];
  for (let launch = 1; launch <= after.length; launch += 1) {
    const storedBefore = after[launch - 2]?.stored ?? [];
    const had = countBy(storedBefore.map(({ serial }) => asked[serial]?.prompt ?? `unknown answer ${serial}`));
    const requests = countBy(asked.filter((one) => one.launch === launch).map(({ prompt }) => prompt));
    for (const [prompt, count] of requests) {
      const allowed = (callsOf.get(prompt) ?? 0) - (had.get(prompt) ?? 0);
      if (count > allowed) again.push(`launch ${launch}: "${prompt}" was asked ${count} times, ${allowed} were open`);
    }
  }
  return again;
}

function ownersOf(
  after: readonly Evidence[],
  asked: readonly AskedOnce[],
  result: Readonly<Record<string, Omit<SlotAnswer, 'slot'>>>,
  callsOf: ReadonlyMap<string, number>,
): Pick<KillFindings, 'wrongOwners' | 'wrongSharedOwners'> {
  const wrong = new Map<string, string>();
  for (const [slot, { prompt, answer }] of Object.entries(result)) {
    const serial = serialOf(answer);
    if (asked[serial]?.prompt !== prompt || !answer.includes(prompt.slice(0, ECHO_LENGTH))) {
      wrong.set(slot, `${slot} asked "${prompt}" and got ${answer}`);
    }
    const earlier = after.flatMap(({ got }) => got).find((one) => one.slot === slot && serialOf(one.answer) !== serial);
    if (earlier !== undefined) wrong.set(slot, `${slot} had ${earlier.answer} and has ${answer}`);
  }
  const isShared = ([slot]: [string, string]): boolean => (callsOf.get(result[slot]?.prompt ?? '') ?? 0) > 1;
  return {
    wrongOwners: [...wrong].filter((one) => !isShared(one)).map(([, text]) => text),
    wrongSharedOwners: [...wrong].filter(isShared).map(([, text]) => text),
  };
}

function countBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
