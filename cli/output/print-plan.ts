import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findNestedWorkflow } from '../../hosts/saved-workflows/find-workflow.ts';
import type { PlannedCall, ResumePlan } from '../../runtime/replay/plan-resume.ts';
import type { CliContext } from '../cli-context.ts';
import { limitsOf, type RunFlags } from '../flags/run-flags.ts';
import type { StoredRun } from '../state/stored-run.ts';
import { textTable } from './text-table.ts';

/** What an edited script and other args bring to a plan; both as for a resume. */
export interface PlanInput {
  readonly script?: string;
  readonly fileName?: string;
  readonly argsJson?: string;
}

/** `--dry-run`: prints what a resume would do, and runs no agent. Source: spec R-25. */
export async function printPlan(
  context: CliContext,
  root: string,
  run: StoredRun,
  flags: RunFlags,
  input: PlanInput,
): Promise<number> {
  const { planResume } = await import('../../runtime/replay/plan-resume.ts');
  const { createRunStore } = await import('../../cache/run-store.ts');
  const sandbox = context.takeSandbox();
  const plan = await planResume({
    store: createRunStore({ root }),
    runId: run.runId,
    limits: { ...run.flags.limits, ...limitsOf(flags, context.env) },
    findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, context),
    promptOf: (agentId) => firstPrompt(join(run.path, 'agents', `${agentId}.jsonl`)),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...input,
  });
  context.stdout.write(flags.outputFormat === 'text' ? planText(run.runId, plan) : `${JSON.stringify(plan)}\n`);
  return 0;
}

/** The prompt of an earlier agent, from its transcript; undefined when there is none. */
async function firstPrompt(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    if (!line.includes('"user"')) continue;
    const row = JSON.parse(line) as { readonly type?: unknown; readonly text?: unknown };
    if (row.type === 'user' && typeof row.text === 'string') return row.text;
  }
  return undefined;
}

function planText(runId: string, plan: ResumePlan): string {
  const rows = plan.calls.map(({ cached, label, phase, reason }: PlannedCall) => [
    cached ? 'stored' : 'runs',
    label,
    phase ?? '',
    reason ?? '',
  ]);
  const { toRun, cached, estimate } = plan;
  const tokens =
    estimate === undefined || toRun === 0
      ? ''
      : `, about ${(estimate.inputTokens + estimate.outputTokens).toLocaleString('en-US')} tokens by this run's medians`;
  const more = plan.complete ? '' : '\nThe script waits for these calls, so more may follow them.';
  return `${textTable(rows)}\nResuming ${runId} would run ${toRun} ${toRun === 1 ? 'call' : 'calls'}${tokens}; ${cached} are stored.${more}\n`;
}
