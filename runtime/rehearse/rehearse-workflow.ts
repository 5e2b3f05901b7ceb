import pLimit from 'p-limit';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { parseAuthorScript } from '../prepare-run.ts';
import { createCallLines } from './call-lines.ts';
import { judgeBaseline, judgeVariant } from './judge-variant.ts';
import type { ChooseNext } from './pacer.ts';
import { planVariants } from './plan-variants.ts';
import { identityOfRow, type Played, play, type Scene } from './play.ts';
import {
  type Finding,
  type RehearsalOptions,
  type RehearsalReport,
  type RehearsedCall,
  VARIANT_KINDS,
  type Variant,
  type VariantKind,
} from './rehearsal.ts';
import type { KnownCall } from './rehearsed-backend.ts';
import { seededNumbers } from './seeded-numbers.ts';

const FIRST_COME: ChooseNext = () => 0;

interface Rehearsal {
  readonly options: RehearsalOptions;
  readonly seed: number;
  readonly baseline: Played;
  readonly known: Map<string, KnownCall>;
  readonly calls: readonly RehearsedCall[];
  readonly usesBudget: boolean;
}

/**
 * Runs a script many times against agents whose every answer is under control, and reports what it does not bear.
 *
 * The first run is undisturbed; its answers are kept. Each variant is a whole run with the same answers and one thing
 * done to it. Nothing is written to the disk, and no time passes between answers; timers of the script take theirs.
 *
 * Contract: the same script, args, answers and seed give the same report.
 *
 * @throws WorkflowError `SCRIPT_…` when the script is invalid, `RUN_CANCELLED` after an abort
 */
export async function rehearseWorkflow(options: RehearsalOptions): Promise<RehearsalReport> {
  const { seed = 1, signal } = options;
  const script = parseAuthorScript(options);
  const lineOf = createCallLines(script);
  const known = new Map<string, KnownCall>();
  const baseline = await play(options, { known, learn: true, choose: FIRST_COME });
  throwIfAborted(signal);
  const calls = baseline.calls.map(({ identity, label, scope }, place) =>
    describeCall(place + 1, label, scope, lineOf(known.get(identity)?.prompt ?? '')),
  );
  const standIns = [...known.values()].filter(({ standIn }) => standIn).length;
  const failed = judgeBaseline(baseline);
  const report = { seed, calls, standIns };
  if (failed !== undefined) return { ...report, ran: countKinds([]), leftOut: 0, findings: [failed] };
  const usesBudget = /\bbudget\b/.test(script.source);
  const { variants, leftOut } = planVariants(baseline, known, options);
  const findings = await tryAll({ options, seed, baseline, known, calls, usesBudget }, variants);
  return { ...report, ran: countKinds(variants), leftOut, findings: mergeFindings(findings) };
}

function describeCall(number: number, label: string, scope: string, line: number | undefined): RehearsedCall {
  // Lines are those of the script itself, and a nested workflow is another file.
  return { number, label, scope, ...(line === undefined || scope.includes('/workflow:') ? {} : { line }) };
}

async function tryAll(rehearsal: Rehearsal, variants: readonly Variant[]): Promise<readonly Finding[]> {
  const { jobs = 3, signal, onProgress } = rehearsal.options;
  const limit = pLimit(jobs);
  let done = 0;
  const findings = await Promise.all(
    variants.map((variant) =>
      limit(async () => {
        throwIfAborted(signal);
        const found = await tryVariant(rehearsal, variant);
        done += 1;
        onProgress?.({ done, total: variants.length });
        return found;
      }),
    ),
  );
  throwIfAborted(signal);
  return findings.flat();
}

async function tryVariant(rehearsal: Rehearsal, variant: Variant): Promise<readonly Finding[]> {
  const { options, baseline, calls, usesBudget } = rehearsal;
  const call = variant.kind === 'order' ? undefined : calls[variant.number - 1];
  const evidence = { variant, baseline, call, usesBudget };
  const first = await play(options, sceneOf(rehearsal, variant));
  // A run that had ended before it could be killed has nothing to resume.
  if (variant.kind !== 'kill') return judgeVariant({ ...evidence, played: first, askedAgain: [] });
  if (first.status !== 'killed') return [];
  throwIfAborted(options.signal);
  const stored = storedAnswers(first);
  const resumed = await play(options, { known: rehearsal.known, choose: FIRST_COME, resume: first.run });
  const used = new Set(resumed.calls.filter(({ cached }) => cached).map(({ identity }) => identity));
  const labels = new Map(first.calls.map(({ identity, label }) => [identity, label]));
  const askedAgain = stored.filter((identity) => !used.has(identity)).map((identity) => labels.get(identity) ?? '');
  return judgeVariant({ ...evidence, played: resumed, askedAgain });
}

function sceneOf({ baseline, known, seed }: Rehearsal, { kind, number }: Variant): Scene {
  const call = baseline.calls[number - 1];
  const identity = call?.identity ?? '';
  switch (kind) {
    case 'order':
      return { known, choose: orderOf(seed, number) };
    case 'null':
    case 'reject':
    case 'bad':
      return { known, choose: FIRST_COME, fault: { identity, kind } };
    case 'budget':
      return { known, choose: FIRST_COME, budget: call?.spentBefore };
    case 'kill':
      return { known, choose: FIRST_COME, killAfter: identity };
  }
}

/** The first other order is the one that shows most: who began last answers first. */
function orderOf(seed: number, number: number): ChooseNext {
  return number === 1 ? (waiting) => waiting - 1 : seededNumbers(seed * 1_000_003 + number);
}

function storedAnswers({ run }: Played): readonly string[] {
  return run.store.rowsOf(run.runId).flatMap(({ row }) => (row.type === 'result' ? [identityOfRow(row)] : []));
}

function countKinds(variants: readonly Variant[]): Readonly<Record<VariantKind, number>> {
  const counts = VARIANT_KINDS.map((kind) => [kind, variants.filter((variant) => variant.kind === kind).length]);
  return Object.fromEntries(counts) as Record<VariantKind, number>;
}

/** What several variants show at one line is one finding, told by the first of them. Errors go before warnings. */
function mergeFindings(findings: readonly Finding[]): readonly Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings) {
    const { kind, severity, line, message, variants } = finding;
    const place = kind === 'order-dependent' || kind === 'resume-differs' ? '' : (line ?? message);
    const key = `${kind} ${severity} ${place}`;
    const same = merged.get(key);
    merged.set(key, same === undefined ? finding : { ...same, variants: [...same.variants, ...variants] });
  }
  const all = [...merged.values()];
  return [
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ];
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new WorkflowError('RUN_CANCELLED', 'The rehearsal was stopped; what it had found is not reported.');
  }
}
