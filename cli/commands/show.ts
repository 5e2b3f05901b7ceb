import { join } from 'node:path';
import { readEvents } from '../../cache/event-reader.ts';
import { describeCost, describePhaseCosts } from '../../emitters/describe-cost.ts';
import { describeCensus } from '../../emitters/describe-end.ts';
import { formatDuration } from '../../emitters/format-duration.ts';
import { createRunSummary, type RunSummary } from '../../protocol/run-summary.ts';
import type { CliContext } from '../cli-context.ts';
import { resumeCommand } from '../launch/resume-command.ts';
import { ago } from '../output/ago.ts';
import { stateWord } from '../output/state-word.ts';
import { textTable } from '../output/text-table.ts';
import { defaultStateRoot, stateRoot } from '../state/state-root.ts';
import { readNamedRun, type StoredRun } from '../state/stored-run.ts';
import { runRow } from './list.ts';

export interface ShowFlags {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly last?: boolean;
}

const FAILURES_SHOWN = 20;

/** `wf show`: what is known of one run, live ones included. Source: spec C-5. */
export async function showCommand(context: CliContext, runId: string | undefined, flags: ShowFlags): Promise<number> {
  const root = stateRoot(context, flags);
  const run = await readNamedRun(root, { runId, last: flags.last });
  const summary = createRunSummary();
  await readEvents(join(run.path, 'events.ndjson'), (event) => summary.apply(event)).catch(() => {});
  const resume = summary.finished?.resume ?? resumeOf(context, run, root);
  const text = flags.json === true ? asJson(run, summary, resume) : asText(run, summary, resume, context.now());
  context.stdout.write(text);
  return 0;
}

/** A run that is at work cannot be resumed. */
function resumeOf(context: CliContext, { runId, state }: StoredRun, root: string): string | undefined {
  if (state === 'running') return undefined;
  return resumeCommand({ runId, stateRoot: root, defaultStateRoot: defaultStateRoot(context.homeDirectory) });
}

function asJson(run: StoredRun, summary: RunSummary, resume: string | undefined): string {
  const { finished } = summary;
  const object = {
    ...runRow(run),
    census: summary.census(),
    usage: finished?.usage ?? summary.usage(),
    phases: summary.phases,
    agents: summary.agents,
    failures: summary.failures,
    ...(finished?.costs === undefined ? {} : { costs: finished.costs }),
    limits_hit: finished?.limitsHit ?? summary.limitsHit,
    ...(finished === undefined ? {} : { outputFile: finished.outputFile }),
    ...(resume === undefined ? {} : { resume }),
  };
  return `${JSON.stringify(object, null, 2)}\n`;
}

function asText(run: StoredRun, summary: RunSummary, resume: string | undefined, nowMs: number): string {
  const { record } = run;
  const { finished } = summary;
  const usage = finished?.usage ?? summary.usage(run.state === 'running' ? nowMs : undefined);
  const rows: [string, string][] = [
    ['run', run.runId],
    ['workflow', `${record.name}: ${record.description}`],
    ['state', stateText(run)],
    ['script', record.scriptPath ?? record.scriptFileName],
    ['directory', run.path],
    ['started', `${new Date(record.createdAt).toISOString()} (${ago(record.createdAt, nowMs)})`],
    ['launches', String(record.launch)],
    ['backend', `${record.backend}${record.simulated ? ' (simulated: no model answers)' : ''}`],
    ['agents', describeCensus(summary.census())],
    [
      'usage',
      `${usage.output_tokens.toLocaleString('en-US')} output tokens, ${usage.tool_uses} tool uses, ${formatDuration(usage.duration_ms)}`,
    ],
  ];
  const cost = describeCost(usage);
  if (cost !== undefined) rows.push(['cost', cost]);
  const byPhase = describePhaseCosts(finished?.costs);
  if (byPhase !== undefined) rows.push(['by phase', byPhase]);
  if (record.error !== undefined) rows.push(['error', `${record.error.message} [${record.error.code}]`]);
  if (finished !== undefined) rows.push(['output', finished.outputFile]);
  if (resume !== undefined) rows.push(['resume', resume]);
  return textTable(rows) + failuresText(summary);
}

function failuresText({ failures }: RunSummary): string {
  if (failures.length === 0) return '';
  const shown = failures.slice(0, FAILURES_SHOWN).map(({ label, code, message }) => ['  ', label, code, message]);
  const more = failures.length - shown.length;
  return `failures\n${textTable(shown)}${more > 0 ? `  and ${more} more; wf show --json has all\n` : ''}`;
}

function stateText({ state, owner }: StoredRun): string {
  return owner === undefined ? stateWord(state) : `${stateWord(state)}, by process ${owner.pid} on ${owner.host}`;
}
