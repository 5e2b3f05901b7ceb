import { preview } from '../../protocol/preview.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { describeLack, firstDifference, isPartOf } from './json-difference.ts';
import type { Played } from './play.ts';
import { type Finding, type RehearsedCall, type Variant, variantName } from './rehearsal.ts';

/** What a variant is judged by. */
export interface Evidence {
  readonly variant: Variant;
  readonly baseline: Played;
  readonly played: Played;
  /** The call that the variant is about; absent for an order. */
  readonly call: RehearsedCall | undefined;
  /** The script asks what the budget is, whose spending starts at 0 with each launch (A-16). */
  readonly usesBudget: boolean;
  /** Calls of a killed run that were answered, and that the resume did not take from the journal. */
  readonly askedAgain: readonly string[];
}

/** Errors that nobody throws on purpose when an answer is missing. */
const CRASHES: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError']);
/** A script may answer a refusal by another call so often before it counts as ignoring the limit. */
const STUBBORN_TURNS = 3;
const VALUE_CHARACTERS = 80;

/** Says what a variant shows of the script; nothing when it bore what was done to it. */
export function judgeVariant(evidence: Evidence): readonly Finding[] {
  const { played } = evidence;
  if (played.ranAway) return [finding(evidence, 'limit-ignored', 'goes on calling agents for ever')];
  const hang = hangOf(evidence);
  if (hang !== undefined) return [hang];
  switch (evidence.variant.kind) {
    case 'order':
      return judgeOrder(evidence);
    case 'kill':
      return judgeResume(evidence);
    case 'budget':
      return judgeBudget(evidence);
    case 'null':
    case 'reject':
    case 'bad':
      return judgeFault(evidence);
  }
}

/** Says why a script does not even complete undisturbed; undefined when it does. */
export function judgeBaseline({ status, error }: Played): Finding | undefined {
  if (status === 'completed') return undefined;
  const { line } = error?.place ?? {};
  const why = error === undefined ? status : `${error.message} [${error.code}]`;
  return {
    kind: isHang(error) ? 'hangs' : 'fails-undisturbed',
    severity: 'error',
    message: `The script does not complete although nothing was done to it: ${why}`,
    ...(line === undefined ? {} : { line }),
    variants: [],
  };
}

function isHang(error: WorkflowError | undefined): boolean {
  return error?.code === 'SCRIPT_DEADLOCK' || error?.code === 'LIMIT_TIME' || error?.code === 'LIMIT_CPU';
}

function hangOf(evidence: Evidence): Finding | undefined {
  const { error } = evidence.played;
  if (!isHang(error)) return undefined;
  const how =
    error?.code === 'SCRIPT_DEADLOCK'
      ? 'waits for something that can never happen'
      : error?.code === 'LIMIT_CPU'
        ? 'computes without an end'
        : 'has not ended when its time is up';
  return finding(evidence, 'hangs', how);
}

function judgeFault(evidence: Evidence): readonly Finding[] {
  const { variant, played, baseline } = evidence;
  const kind = variant.kind === 'bad' ? 'crashes-on-answer' : 'crashes-on-null';
  const { error } = played;
  if (error?.code === 'SCRIPT_THREW') {
    // A failed call that ends the run is what a script may want; a TypeError is not.
    const name = String(error.data?.['name']);
    return CRASHES.has(name) ? [finding(evidence, kind, `crashes: ${error.message}`, error.place?.line)] : [];
  }
  if (played.status !== 'completed') return [];
  const before = new Set(baseline.brokenParts.map(({ error: { message, line } }) => `${line} ${message}`));
  const broken = played.brokenParts.find(
    ({ error: { name, message, line } }) => CRASHES.has(name) && !before.has(`${line} ${message}`),
  );
  if (broken !== undefined) {
    const { name, message, line } = broken.error;
    return [finding(evidence, kind, `crashes in a part that then is null: ${name}: ${message}`, line)];
  }
  return variant.kind === 'bad' ? [] : judgeSilence(evidence);
}

/** A bad answer is an answer; a failed call should leave a trace. */
function judgeSilence(evidence: Evidence): readonly Finding[] {
  const { played, baseline } = evidence;
  if (played.scriptLogs.some((line) => !baseline.scriptLogs.includes(line))) return [];
  const difference = firstDifference(baseline.result, played.result);
  if (difference === undefined) {
    return [
      finding(evidence, 'swallows-failure', 'completes with the same result and logs nothing', undefined, 'warning'),
    ];
  }
  if (!isPartOf(played.result, baseline.result)) return [];
  const how = `completes with less (${describeLack(played.result, baseline.result)}) and logs nothing`;
  return [finding(evidence, 'swallows-failure', how, undefined, 'warning')];
}

function judgeOrder(evidence: Evidence): readonly Finding[] {
  const { played, baseline } = evidence;
  if (played.status !== 'completed') {
    const { error } = played;
    return [finding(evidence, 'order-dependent', `does not complete: ${error?.message}`, error?.place?.line)];
  }
  const changed = changeOf(baseline, played);
  if (changed !== undefined) return [finding(evidence, 'order-dependent', changed)];
  const asked = new Set(baseline.calls.map(({ content }) => content));
  const other = played.calls.find(({ content }) => !asked.has(content));
  if (other === undefined) return [];
  const how = `asks "${other.label}" something else, so that a resume may ask it again`;
  return [finding(evidence, 'order-dependent', how, undefined, 'warning')];
}

function judgeResume(evidence: Evidence): readonly Finding[] {
  const { played, baseline, askedAgain, usesBudget } = evidence;
  if (played.status !== 'completed') {
    const { error } = played;
    return [finding(evidence, 'resume-differs', `does not complete: ${error?.message}`, error?.place?.line)];
  }
  const changed = changeOf(baseline, played);
  if (changed !== undefined && usesBudget) {
    const how = `${changed} (budget.spent() starts at 0 when a run is resumed)`;
    return [finding(evidence, 'resume-differs', how, undefined, 'warning')];
  }
  if (changed !== undefined) return [finding(evidence, 'resume-differs', changed)];
  if (askedAgain.length === 0) return [];
  const labels = askedAgain.slice(0, 3).map((label) => `"${label}"`);
  const more = askedAgain.length > 3 ? ` and ${askedAgain.length - 3} more` : '';
  return [finding(evidence, 'resume-differs', `does not use the stored answers of ${labels.join(', ')}${more}`)];
}

function judgeBudget(evidence: Evidence): readonly Finding[] {
  const { played, baseline } = evidence;
  if (!played.limitsHit.includes('LIMIT_BUDGET')) return [];
  if (played.stubbornTurns > STUBBORN_TURNS) {
    return [
      finding(
        evidence,
        'limit-ignored',
        `calls another agent each time that one is refused, ${played.stubbornTurns} times`,
      ),
    ];
  }
  const { error } = played;
  if (error?.code === 'SCRIPT_THREW' && CRASHES.has(String(error.data?.['name']))) {
    return [
      finding(evidence, 'limit-ignored', `goes on without the answer and crashes: ${error.message}`, error.place?.line),
    ];
  }
  if (played.status !== 'completed' || firstDifference(baseline.result, played.result) !== undefined) return [];
  return [finding(evidence, 'limit-ignored', 'completes with the same result as if none had been refused')];
}

function changeOf(baseline: Played, played: Played): string | undefined {
  const difference = firstDifference(baseline.result, played.result);
  if (difference === undefined) return undefined;
  const { path, left, right } = difference;
  return `gives another result: ${path === '' ? 'it' : path} is ${shown(right)} and was ${shown(left)}`;
}

function shown(json: string | undefined): string {
  return json === undefined ? 'absent' : preview(json, VALUE_CHARACTERS);
}

function finding(
  { variant, call }: Evidence,
  kind: Finding['kind'],
  what: string,
  line: number | undefined = call?.line,
  severity: Finding['severity'] = 'error',
): Finding {
  return {
    kind,
    severity,
    message: `${circumstance(variant, call)}, the script ${what}`,
    ...(line === undefined ? {} : { line }),
    variants: [variantName(variant)],
  };
}

function circumstance({ kind }: Variant, call: RehearsedCall | undefined): string {
  const which =
    call === undefined
      ? ''
      : `call ${call.number} "${call.label}"${call.line === undefined ? '' : ` (line ${call.line})`}`;
  switch (kind) {
    case 'order':
      return 'When answers come in another order';
    case 'null':
      return `When ${which} is null`;
    case 'reject':
      return `When ${which} rejects`;
    case 'bad':
      return `When ${which} gets the least answer that it must accept`;
    case 'budget':
      return `When the budget is spent before ${which}`;
    case 'kill':
      return `When the run is killed after ${which} and resumed`;
  }
}
