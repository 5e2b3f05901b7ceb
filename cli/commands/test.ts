import { resolve } from 'node:path';
import { findNestedWorkflow } from '../../hosts/saved-workflows/find-workflow.ts';
import { readTextFile } from '../../hosts/saved-workflows/read-text-file.ts';
import { shellQuote } from '../../hosts/workflow-tool/shell-quote.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, Clock } from '../../runtime/ports.ts';
import {
  type Finding,
  type RehearsalReport,
  type RehearsedCall,
  VARIANT_KINDS,
} from '../../runtime/rehearse/rehearsal.ts';
import { rehearseWorkflow } from '../../runtime/rehearse/rehearse-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { readArgs } from '../flags/read-args.ts';
import { DEFAULT_ORDERS, type TestFlags } from '../flags/test-flags.ts';
import { readScriptTarget } from '../launch/read-script-target.ts';
import { textTable } from '../output/text-table.ts';

/** Variants named in the text of one finding. */
const VARIANTS_SHOWN = 12;

/** `wf test`: rehearses a script and reports what it does not bear. Ends with 1 when something was found. */
export async function testCommand(context: CliContext, target: string, flags: TestFlags): Promise<number> {
  const [script, argsJson] = await Promise.all([readScriptTarget(target, context), readArgs(flags, context.cwd)]);
  const { makeBackend, makeStandIn } = await chooseBackends(context, flags);
  const stop = new AbortController();
  const removals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => context.onSignal(name, () => stop.abort()));
  const progress = createProgress(context, flags);
  if (flags.quiet !== true) context.stderr.write(`testing ${script.fileName} with seed ${flags.seed}\n`);
  try {
    const report = await rehearseWorkflow({
      script: script.text,
      fileName: script.fileName,
      ...(script.path === undefined ? {} : { scriptPath: script.path }),
      argsJson,
      cwd: context.cwd,
      makeBackend,
      makeStandIn,
      findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, context),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
      limits: limitsOf(flags),
      seed: flags.seed,
      orders: flags.orders,
      maxVariants: flags.maxVariants,
      ...(flags.only === undefined ? {} : { only: flags.only }),
      jobs: flags.jobs,
      timeoutMs: Math.round(flags.timeout * 1000),
      signal: stop.signal,
      onProgress: progress.show,
    });
    progress.end();
    refuseUnknown(flags, report);
    return print(context, target, script.fileName, flags, report);
  } finally {
    progress.end();
    for (const remove of removals) remove();
  }
}

function limitsOf({ budget, maxAgents, maxDepth }: TestFlags): Readonly<Record<string, number>> {
  const limits = { budget, maxAgents, maxDepth };
  return Object.fromEntries(
    Object.entries(limits).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
}

/** Answers on file come at once, whatever delays they plan. */
const NO_DELAYS: Clock = {
  now: () => Date.now(),
  after: (_delayMs, callback) => {
    const soon = setImmediate(callback);
    return { cancel: () => clearImmediate(soon) };
  },
};

async function chooseBackends(
  context: CliContext,
  flags: TestFlags,
): Promise<{ readonly makeBackend: () => AgentBackend; readonly makeStandIn: () => AgentBackend }> {
  const { createSimulatedBackend } = await import('../../agents/simulated/simulated-backend.ts');
  if (flags.responses === undefined)
    return { makeBackend: createSimulatedBackend, makeStandIn: createSimulatedBackend };
  const path = resolve(context.cwd, flags.responses);
  const text = await readTextFile(path, 'the file of --responses');
  const [{ loadResponsesFile }, { createScriptedBackend }, { loadAgentTypes }] = await Promise.all([
    import('../../agents/scripted/load-responses-file.ts'),
    import('../../agents/scripted/scripted-backend.ts'),
    import('../../agents/agent-types.ts'),
  ]);
  const file = loadResponsesFile(text, path);
  const agentTypes = await loadAgentTypes({ cwd: context.cwd, home: context.homeDirectory });
  return {
    makeBackend: () => createScriptedBackend(file, { agentTypes, clock: NO_DELAYS }),
    makeStandIn: createSimulatedBackend,
  };
}

function createProgress({ stderr }: CliContext, { quiet }: TestFlags) {
  let shown = false;
  return {
    show({ done, total }: { readonly done: number; readonly total: number }): void {
      if (quiet === true || !stderr.isTerminal) return;
      shown = true;
      stderr.write(`\r${done} of ${total} runs`);
    },
    end(): void {
      if (shown) stderr.write('\r\x1b[K');
      shown = false;
    },
  };
}

/** A variant that was named and is none would pass for one that found nothing. */
function refuseUnknown({ only }: TestFlags, { ran, leftOut, findings, calls }: RehearsalReport): void {
  const nothingRan = VARIANT_KINDS.every((kind) => ran[kind] === 0);
  if (only === undefined || !nothingRan || leftOut > 0 || findings.length > 0) return;
  throw new WorkflowError(
    'USAGE_INVALID',
    `--only names nothing that can be done to this script: it makes ${calls.length} calls, and not every call can be cut by a budget or badly answered; without --only all that can be done is`,
  );
}

function print(
  context: CliContext,
  target: string,
  fileName: string,
  flags: TestFlags,
  report: RehearsalReport,
): number {
  const findings = report.findings.filter(({ kind }) => flags.ignore?.includes(kind) !== true);
  const told = { ...report, findings };
  const command = (finding: Finding): string => reproduction(target, flags, finding);
  context.stdout.write(flags.json === true ? asJson(target, told, command) : asText(fileName, told, command));
  if (report.standIns > 0 && flags.quiet !== true) {
    const calls = plural(report.standIns, 'call');
    context.stderr.write(`note: simulated, since ${flags.responses} has no answer: ${calls}\n`);
  }
  return findings.length === 0 ? 0 : 1;
}

function asJson(script: string, report: RehearsalReport, command: (finding: Finding) => string): string {
  const findings = report.findings.map((finding) => ({ ...finding, reproduce: command(finding) }));
  return `${JSON.stringify({ script, ...report, findings }, null, 2)}\n`;
}

function asText(fileName: string, report: RehearsalReport, command: (finding: Finding) => string): string {
  const { findings, ran, calls, seed, leftOut } = report;
  const variantsFound = findings.flatMap(({ variants }) => variants);
  const rows = VARIANT_KINDS.map((kind) => {
    const found = new Set(variantsFound.filter((name) => name.startsWith(`${kind}:`))).size;
    const result = ran[kind] === 0 ? 'not tried' : found === 0 ? 'nothing found' : `${found} with findings`;
    return ['  ', kind, String(ran[kind]), result];
  });
  const total = VARIANT_KINDS.reduce((sum, kind) => sum + ran[kind], 0);
  const left = leftOut === 0 ? '' : `; ${leftOut} more were left out, see --max-variants`;
  const head = `${fileName}: ${plural(calls.length, 'call')}, ${plural(total, 'variant')}, seed ${seed}${left}\n`;
  return `${head}${textTable(rows)}${findings.map((found) => findingText(fileName, found, calls, command)).join('')}${countText(findings)}`;
}

function findingText(
  fileName: string,
  finding: Finding,
  calls: readonly RehearsedCall[],
  command: (finding: Finding) => string,
): string {
  const { kind, severity, message, line, variants } = finding;
  const place = line === undefined ? fileName : `${fileName}:${line}`;
  const others = variants.slice(1, VARIANTS_SHOWN);
  const more = variants.length > VARIANTS_SHOWN ? ` and ${variants.length - VARIANTS_SHOWN} more` : '';
  const also = others.length === 0 ? '' : `  also: ${others.map((name) => withLabel(name, calls)).join(', ')}${more}\n`;
  return `\n${place} ${severity} ${kind}\n  ${message.replaceAll('\n', '\n  ')}\n${also}  try: ${command(finding)}\n`;
}

function withLabel(name: string, calls: readonly RehearsedCall[]): string {
  const [kind, number] = name.split(':');
  const label = kind === 'order' ? undefined : calls[Number(number) - 1]?.label;
  return label === undefined ? name : `${name} "${label}"`;
}

function countText(findings: readonly Finding[]): string {
  if (findings.length === 0) return '\nnothing found\n';
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return `\n${plural(errors, 'error')}, ${plural(findings.length - errors, 'warning')}\n`;
}

/** The command that shows a finding again, as a shell takes it. */
function reproduction(target: string, flags: TestFlags, { variants }: Finding): string {
  const words = ['wf', 'test', target];
  const add = (flag: string, value: string | number | undefined): void => {
    if (value !== undefined) words.push(flag, String(value));
  };
  add('--args', flags.args);
  for (const pair of flags.arg ?? []) add('--arg', pair);
  add('--responses', flags.responses);
  add('--concurrency', flags.concurrency);
  add('--budget', flags.budget);
  add('--max-agents', flags.maxAgents);
  add('--max-depth', flags.maxDepth);
  const [variant] = variants;
  add('--only', variant);
  // An order is found among so many; the others come with any number.
  if (variant?.startsWith('order:') === true && Number(variant.slice(6)) > DEFAULT_ORDERS)
    add('--orders', flags.orders);
  add('--seed', flags.seed);
  return words.map(shellQuote).join(' ');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
