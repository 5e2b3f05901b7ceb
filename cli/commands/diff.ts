import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { preview } from '../../protocol/preview.ts';
import { firstDifference, type JsonDifference } from '../../runtime/rehearse/json-difference.ts';
import { type CallPair, compareRuns, isSameRun, type RunComparison } from '../../runtime/replay/compare-runs.ts';
import { type StoredCall, storedCalls } from '../../runtime/replay/stored-calls.ts';
import type { CliContext } from '../cli-context.ts';
import { textTable } from '../output/text-table.ts';
import { stateRoot } from '../state/state-root.ts';
import { readStoredRows } from '../state/stored-rows.ts';
import { readStoredRun, type StoredRun } from '../state/stored-run.ts';

export interface DiffFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
}

const SHOWN_CHARACTERS = 100;
const CALLS_SHOWN = 50;

/** What is compared beyond the calls. */
interface Heads {
  readonly left: StoredRun;
  readonly right: StoredRun;
  /** The first difference of the results; undefined when they are the same. */
  readonly result: JsonDifference | undefined;
}

/** `wf diff`: compares the calls and the results of two runs. Ends with 1 when they differ, as diff(1) does. */
export async function diffCommand(context: CliContext, a: string, b: string, flags: DiffFlags): Promise<number> {
  const root = stateRoot(context, flags);
  const [left, right] = await Promise.all([readStoredRun(root, a), readStoredRun(root, b)]);
  const [leftCalls, rightCalls] = await Promise.all([callsOf(left), callsOf(right)]);
  const comparison = compareRuns({ left: leftCalls, right: rightCalls });
  const [leftResult, rightResult] = await Promise.all([resultOf(left), resultOf(right)]);
  const heads: Heads = { left, right, result: firstDifference(leftResult, rightResult) };
  context.stdout.write(flags.json === true ? asJson(heads, comparison) : asText(heads, comparison));
  return isSameRun(comparison) && !headDiffers(heads) ? 0 : 1;
}

/** A launch that came to an end asked all that its script asks; what only earlier launches asked is no longer of the run. */
async function callsOf({ path, state }: StoredRun): Promise<readonly StoredCall[]> {
  const { rows, asked } = await readStoredRows(path);
  const calls = storedCalls(rows, asked);
  if (asked.length === 0 || (state !== 'completed' && state !== 'failed')) return calls;
  const keys = new Set(asked.map(({ key }) => key));
  return calls.filter(({ key }) => keys.has(key));
}

/** Undefined for a run that has no result. */
async function resultOf({ path }: StoredRun): Promise<unknown> {
  try {
    return (JSON.parse(await readFile(join(path, 'output.json'), 'utf8')) as { result?: unknown }).result;
  } catch {
    return undefined;
  }
}

function headDiffers({ left, right, result }: Heads): boolean {
  return (
    result !== undefined ||
    left.state !== right.state ||
    left.record.scriptSha256 !== right.record.scriptSha256 ||
    left.record.argsSha256 !== right.record.argsSha256
  );
}

function asJson(heads: Heads, comparison: RunComparison): string {
  const { left, right, result } = heads;
  const pairs = (list: readonly CallPair[]) =>
    list.map((pair) => ({ left: callObject(pair.left), right: callObject(pair.right) }));
  const object = {
    same: isSameRun(comparison) && !headDiffers(heads),
    left: { runId: left.runId, status: left.state },
    right: { runId: right.runId, status: right.state },
    sameScript: left.record.scriptSha256 === right.record.scriptSha256,
    sameArgs: left.record.argsSha256 === right.record.argsSha256,
    sameResult: result === undefined,
    ...(result === undefined ? {} : { resultDifference: result }),
    matched: comparison.matched,
    onlyLeft: comparison.onlyLeft.map(callObject),
    onlyRight: comparison.onlyRight.map(callObject),
    changed: pairs(comparison.changed),
    otherResults: pairs(comparison.otherResults),
    relabelled: pairs(comparison.relabelled),
    moved: pairs(comparison.moved),
  };
  return `${JSON.stringify(object, null, 2)}\n`;
}

function callObject(call: StoredCall) {
  const { key, label, scope, phase, promptPreview, resultJson, error } = call;
  return {
    key,
    label,
    scope,
    phase,
    ...(promptPreview === undefined ? {} : { promptPreview }),
    ...(resultJson === undefined ? {} : { resultPreview: preview(resultJson) }),
    ...(error === undefined ? {} : { error }),
  };
}

function asText(heads: Heads, comparison: RunComparison): string {
  const { left, right, result } = heads;
  const { onlyLeft, onlyRight, changed, otherResults, relabelled, moved, matched } = comparison;
  const rows = [
    ['runs', `${left.runId} and ${right.runId}`],
    ['state', left.state === right.state ? `both ${left.state}` : `${left.state} and ${right.state}`],
    ['script', left.record.scriptSha256 === right.record.scriptSha256 ? 'the same' : 'not the same'],
    ['args', left.record.argsSha256 === right.record.argsSha256 ? 'the same' : 'not the same'],
    ['result', result === undefined ? 'the same' : resultText(result)],
    [
      'calls',
      `${matched} in both, ${onlyLeft.length + changed.length} and ${onlyRight.length + changed.length} in one only`,
    ],
  ];
  return [
    textTable(rows),
    section(`only in ${left.runId}`, onlyLeft, (call) => [call.label, call.scope, promptOf(call)]),
    section(`only in ${right.runId}`, onlyRight, (call) => [call.label, call.scope, promptOf(call)]),
    pairSection('asks something else', changed, promptOf),
    pairSection('other answer', otherResults, answerOf),
    pairSection('other label', relabelled, ({ label }) => label),
    section('at another place in the order', moved, (pair) => [pair.right.label, pair.right.scope]),
  ].join('');
}

function section<T>(title: string, items: readonly T[], row: (item: T) => readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length - CALLS_SHOWN;
  const rows = items.slice(0, CALLS_SHOWN).map((item) => ['  ', ...row(item)]);
  return `\n${title}\n${textTable(rows)}${more > 0 ? `  and ${more} more; --json has all\n` : ''}`;
}

function pairSection(title: string, pairs: readonly CallPair[], show: (call: StoredCall) => string): string {
  const lines = pairs.flatMap((pair) => [
    [`- ${pair.left.label}`, show(pair.left)],
    [`+ ${pair.right.label}`, show(pair.right)],
  ]);
  return section(title, lines, (line) => line);
}

function resultText({ path, left, right }: JsonDifference): string {
  const at = path === '' ? '' : ` at ${path}`;
  return `differs${at}: ${left === undefined ? 'none' : short(left)} and ${right === undefined ? 'none' : short(right)}`;
}

function promptOf({ promptPreview }: StoredCall): string {
  return promptPreview === undefined ? '' : short(promptPreview);
}

function answerOf({ resultJson, error }: StoredCall): string {
  if (resultJson !== undefined) return short(resultJson);
  return error === undefined ? 'no answer' : `failed: ${short(error.message)} [${error.code}]`;
}

function short(text: string): string {
  const shown = preview(text, SHOWN_CHARACTERS);
  return text.length > SHOWN_CHARACTERS ? `${shown}…` : shown;
}
