import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatUsd } from '../../emitters/describe-cost.ts';
import { toTerminalText } from '../../emitters/text/terminal-text.ts';
import { findNestedWorkflow } from '../../hosts/saved-workflows/find-workflow.ts';
import { refuseWhenDisabled } from '../../hosts/saved-workflows/kill-switch.ts';
import { Asker } from '../../hosts/script-author/ask-backend.ts';
import { type AgentEstimate, estimateAgents } from '../../hosts/script-author/estimate-agents.ts';
import { type WrittenWorkflow, writeWorkflow } from '../../hosts/script-author/write-workflow.ts';
import { isWorkflowError, WorkflowError } from '../../protocol/workflow-error.ts';
import { openCostMeter } from '../../runtime/costs/open-cost-meter.ts';
import { DEFAULT_LIMITS } from '../../runtime/run-options.ts';
import { startWorkflow } from '../../runtime/start-workflow.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOfSignal } from '../exit-code.ts';
import type { NewFlags } from '../flags/new-flags.ts';
import { readArgs } from '../flags/read-args.ts';
import { readPrices } from '../flags/read-prices.ts';
import { limitsOf } from '../flags/run-flags.ts';
import { type BackendChoice, chooseBackend } from '../launch/choose-backend.ts';
import { createBackend } from '../launch/create-backend.ts';
import { executeRun } from '../launch/execute-run.ts';
import { listenForStop } from '../launch/stop-signals.ts';
import { askYesNo, canAsk } from '../output/ask.ts';
import { stateRoot } from '../state/state-root.ts';

/** A script that is ready to run, and where it was saved. */
interface NewWorkflow extends WrittenWorkflow {
  readonly path: string | undefined;
}

/** `wf new`: a model writes the script of a task; it is checked, shown, and run after a yes. Source: spec C-4. */
export async function newCommand(context: CliContext, task: string, flags: NewFlags): Promise<number> {
  refuseWhenDisabled(context);
  if (task.trim() === '') throw new WorkflowError('USAGE_INVALID', 'say in a sentence what the workflow is to do');
  if (flags.dryRun === true || flags.salvage === true || flags.resumePolicy !== undefined) {
    throw new WorkflowError(
      'USAGE_INVALID',
      'wf new starts a new run: --dry-run, --salvage and --resume-policy are for wf resume',
    );
  }
  const choice = chooseWriter(context, flags);
  const root = stateRoot(context, flags);
  const [argsJson, path] = await Promise.all([readArgs(flags, context.cwd), savePath(context, flags.save)]);
  const written = await write(context, task, flags, choice, argsJson, path);
  if (typeof written === 'number') return written;
  if (path !== undefined) await save(path, written.script.source);
  const workflow = { ...written, path };
  await show(context, workflow, argsJson);
  if (flags.yes !== true) {
    if (!canAsk(context)) return printOnly(context, workflow, flags);
    if (!(await askYesNo(context, 'Run it?'))) return printOnly(context, workflow, flags);
  }
  return run(context, root, workflow, argsJson, flags);
}

/** @throws AGENT_AUTH when there is no model, USAGE_INVALID for simulated agents */
function chooseWriter(context: CliContext, flags: NewFlags): BackendChoice {
  const choice = chooseBackend(flags, context.env);
  if (choice.name !== 'simulated') return choice;
  if (flags.backend === 'simulated') {
    throw new WorkflowError('USAGE_INVALID', 'simulated agents cannot write a script; name another --backend, or none');
  }
  throw new WorkflowError(
    'AGENT_AUTH',
    'wf new needs a model that writes the script, and none is configured: set ANTHROPIC_API_KEY, or name an agent CLI with ' +
      '--backend claude; or write the script by hand and look at it with wf check',
  );
}

/** @throws USAGE_INVALID for a name that cannot be one, or that is taken: before anything is paid */
async function savePath({ cwd }: CliContext, name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return undefined;
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `--save takes a name of letters, digits, - and _, not ${JSON.stringify(name)}`,
    );
  }
  const path = join(cwd, '.wf', 'workflows', `${name}.js`);
  const { existsSync } = await import('node:fs');
  if (existsSync(path)) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `there is a workflow at ${path} already; save this one under another name`,
    );
  }
  return path;
}

/** Gives an exit code when it was stopped. */
async function write(
  context: CliContext,
  task: string,
  flags: NewFlags,
  choice: BackendChoice,
  argsJson: string | undefined,
  path: string | undefined,
): Promise<WrittenWorkflow | number> {
  const say = (text: string): void => {
    if (flags.quiet !== true) context.stderr.write(toTerminalText(`${text}\n`));
  };
  const prices = await readPrices(flags.prices, undefined, context.cwd);
  const stop = listenForStop(context, () => {});
  const backend = await createBackend(
    choice.name,
    { responses: flags.responses, model: flags.model, agentCommand: choice.agentCommand },
    { ...context, agentsCwd: context.cwd },
  ).catch((error: unknown) => {
    stop.dispose();
    throw error;
  });
  const asker = new Asker({
    backend,
    costs: openCostMeter(backend, prices?.table, 1, []),
    cwd: context.cwd,
    maxRetries: limitsOf(flags, context.env).maxRetries ?? DEFAULT_LIMITS.maxRetries,
    signal: stop.signal,
    onRetry: (delayMs, reason) => say(`asks again in ${Math.ceil(delayMs / 1000)} s: ${reason}`),
  });
  try {
    say(`${backend.model ?? backend.name} writes the script …`);
    const written = await writeWorkflow({
      task,
      argsJson,
      fileName: path === undefined ? 'new-workflow.js' : `${flags.save}.js`,
      ask: (prompt) => asker.ask(prompt),
      onRejected: ({ faults }, repair) => say(`repair ${repair} of 3: ${faults.join('; ')}`),
    });
    const cost = asker.costUsd === undefined ? '' : `, ${formatUsd(asker.costUsd)}`;
    say(`written with ${asker.outputTokens.toLocaleString('en-US')} output tokens${cost}`);
    return written;
  } catch (error) {
    if (stop.received !== undefined) return exitCodeOfSignal(stop.received);
    const script = isWorkflowError(error) ? error.data?.['script'] : undefined;
    if (typeof script === 'string') context.stdout.write(script); // to be mended by hand
    throw error;
  } finally {
    stop.dispose();
    await backend.close();
  }
}

async function save(path: string, source: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, source, { flag: 'wx' });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkflowError('STATE_UNWRITABLE', `the script cannot be saved: ${reason}`, { cause });
  }
}

async function show(context: CliContext, workflow: NewWorkflow, argsJson: string | undefined): Promise<void> {
  const { script, warnings, path } = workflow;
  const { name, description } = script.meta;
  const estimate = await estimateAgents(script, argsJson, {
    cwd: context.cwd,
    findWorkflow: (ref, callerDirectory) => findNestedWorkflow(ref, callerDirectory, context),
  });
  const lines = [
    ...(canAsk(context) ? ['', script.source] : []),
    `${name}: ${description}`,
    ...phaseLines(workflow, estimate),
    `  ${describeEstimate(estimate)}`,
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...(path === undefined ? [] : [`  saved: ${path}`]),
  ];
  context.stderr.write(toTerminalText(`${lines.join('\n')}\n`));
}

function phaseLines({ script }: NewWorkflow, { phases }: AgentEstimate): string[] {
  const declared = script.meta.phases ?? [];
  const titles = new Set([...declared.map(({ title }) => title), ...phases.map(({ title }) => title)]);
  return [...titles].map((title) => {
    const detail = declared.find((phase) => phase.title === title)?.detail;
    const agents = phases.find((phase) => phase.title === title)?.agents;
    const count = agents === undefined ? '' : ` (${countAgents(agents)})`;
    return `  ▸ ${title}${detail === undefined ? '' : `: ${detail}`}${count}`;
  });
}

function describeEstimate({ agents, complete }: AgentEstimate): string {
  if (!complete) {
    return `at least ${countAgents(agents)}: a rehearsal with made-up answers did not get to the end of the script`;
  }
  return `about ${countAgents(agents)}, counted in a rehearsal with made-up answers; more if real answers hold more parts`;
}

const countAgents = (count: number): string => `${count.toLocaleString('en-US')} ${count === 1 ? 'agent' : 'agents'}`;

/** Nobody said yes: the script is the output, and how to run it is said. */
function printOnly(context: CliContext, { script, path }: NewWorkflow, { save: name }: NewFlags): number {
  if (!canAsk(context)) context.stdout.write(script.source);
  const how =
    path === undefined
      ? 'not run. To keep it give --save NAME; to run it at once give --yes; or put it into a file: wf run FILE'
      : `not run. To run it: wf run ${name}`;
  context.stderr.write(`${how}\n`);
  return 0;
}

function run(
  context: CliContext,
  root: string,
  { script, path }: NewWorkflow,
  argsJson: string | undefined,
  flags: NewFlags,
): Promise<number> {
  const given = {
    script: script.source,
    fileName: script.fileName,
    ...(path === undefined ? {} : { scriptPath: path }),
    ...(argsJson === undefined ? {} : { argsJson }),
  };
  return executeRun(context, flags, root, async () => ({
    stored: { startedByPath: false },
    source: { scriptText: script.source, scriptFileName: script.fileName, startedByPath: false },
    agentsCwd: context.cwd,
    launch: (options) => startWorkflow({ ...options, cwd: context.cwd, ...given }),
  }));
}
