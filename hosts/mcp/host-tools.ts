import type { z } from 'zod';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { HostRun } from '../host-runs/host-run.ts';
import type { HostRunState } from '../host-runs/host-run-state.ts';
import type { HostRuns } from '../host-runs/host-runs.ts';
import type { SearchPlace } from '../saved-workflows/find-workflow.ts';
import { argsText, readRequestedScript } from '../workflow-tool/launch-request.ts';
import { SCRIPT_LANGUAGE } from '../workflow-tool/script-language.ts';
import { cancelInput, continueInput, hostRunOutput, startInput, statusInput } from './host-schemas.ts';
import { defineMcpTool, type McpTool, type ToolCallContext } from './mcp-tool.ts';
import { patiently } from './patience.ts';
import { resultMember } from './result-member.ts';

type HostRunAnswer = z.input<typeof hostRunOutput>;

const DEFAULT_WAIT_SECONDS = 20;

export interface HostToolsOptions {
  readonly runs: HostRuns;
  readonly place: SearchPlace;
  /** Explains the language of scripts with `wf_start`, where no other tool of the server does. */
  readonly teach: boolean;
}

/** The tools through which the connected agent does the agents of a run. Source: spec H-12 to H-16. */
export function hostTools({ runs, place, teach }: HostToolsOptions): readonly McpTool[] {
  return [startTool(runs, place, teach), continueTool(runs), statusTool(runs), cancelTool(runs)];
}

function startTool(runs: HostRuns, place: SearchPlace, teach: boolean): McpTool {
  return defineMcpTool({
    name: 'wf_start',
    title: 'Start a workflow that you do yourself',
    description: `Starts a workflow script whose agent() calls are done by you, the connected agent: no API key is needed. Give one of scriptPath, name and script. It answers with the steps that wait for you; do each as its instruction and contract say, and hand it in with wf_continue, until the status is completed.${teach ? `\n\n${SCRIPT_LANGUAGE}` : ' The description of Workflow explains the language of scripts.'}`,
    input: startInput,
    output: hostRunOutput,
    changes: 'runs',
    async call({ graph, maxPending = 1, args, ...source }, context) {
      if (graph !== undefined) {
        throw new WorkflowError(
          'USAGE_UNSUPPORTED',
          'wf_start: a graph of steps is not in this version of wf. Write the workflow as a script: each step an agent() call.',
        );
      }
      const requested = await readRequestedScript(source, place);
      if (requested === undefined) throw new WorkflowError('USAGE_INVALID', 'wf_start goes on with no earlier run.');
      const { text, fileName, path } = requested;
      const run = await runs.start({ script: text, fileName, scriptPath: path, argsJson: argsText(args), maxPending });
      const state = await waitFor(run, DEFAULT_WAIT_SECONDS, context);
      // The client will never learn of its id.
      if (context.signal.aborted) void run.cancel('the client cancelled wf_start');
      return { structured: answerOf(state) };
    },
  });
}

function continueTool(runs: HostRuns): McpTool {
  return defineMcpTool({
    name: 'wf_continue',
    title: 'Hand in a step',
    description:
      'Hands in the result of a step of a run that wf_start began, and answers with the steps that wait next. An output that does not fit comes back with the places to mend, and the step still waits. Handing in the same result again is harmless.',
    input: continueInput,
    output: hostRunOutput,
    changes: 'runs',
    async call({ runId, stepId, result, waitSeconds = DEFAULT_WAIT_SECONDS }, context) {
      const run = await runs.find(runId);
      if (!(run instanceof HostRun)) {
        // A server that died after the last answer could not say that it had it.
        if (runs.hasTaken(run.runId, stepId, result)) return { structured: answerOf(run) };
        throw ended(run, stepId);
      }
      // After a restart the step is pending once the script was replayed.
      if (!run.knows(stepId)) await waitFor(run, waitSeconds, context);
      const reply = run.answer(stepId, result);
      const state = await waitFor(run, waitSeconds, context);
      if (reply.type !== 'rejected') return { structured: answerOf(state) };
      const { errors, usedUp } = reply;
      return { structured: { ...answerOf(state), rejected: { stepId, errors: [...errors], usedUp } } };
    },
  });
}

function statusTool(runs: HostRuns): McpTool {
  return defineMcpTool({
    name: 'wf_status',
    title: 'Look at a run that you do',
    description:
      'Tells the state of a run that wf_start began, with the steps that wait for you. A run that an earlier server left is taken up again: the same steps wait.',
    input: statusInput,
    output: hostRunOutput,
    changes: 'nothing',
    async call({ runId, waitSeconds = DEFAULT_WAIT_SECONDS }, context) {
      const run = await runs.find(runId);
      return { structured: answerOf(run instanceof HostRun ? await waitFor(run, waitSeconds, context) : run) };
    },
  });
}

function cancelTool(runs: HostRuns): McpTool {
  return defineMcpTool({
    name: 'wf_cancel',
    title: 'End a run that you do',
    description: 'Ends a run that wf_start began. What its steps returned is kept.',
    input: cancelInput,
    output: hostRunOutput,
    changes: 'runs',
    async call({ runId, reason = 'wf_cancel was called' }, context) {
      const run = await runs.find(runId);
      if (!(run instanceof HostRun)) return { structured: answerOf(run) };
      await run.cancel(reason);
      return { structured: answerOf(await run.state(context.signal)) };
    },
  });
}

function waitFor(run: HostRun, seconds: number, context: ToolCallContext): Promise<HostRunState> {
  const describe = (): string => 'the script is at work';
  return patiently({ seconds, describe }, context, (signal) => run.state(signal));
}

function answerOf({ resultJson, outputFile, error, pending, logs, runId, status }: HostRunState): HostRunAnswer {
  return {
    runId,
    status,
    pending: pending.map((step) => ({ ...step })),
    logs: [...logs],
    ...resultMember(resultJson),
    ...(outputFile === undefined ? {} : { outputFile }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
}

function ended({ runId, status }: HostRunState, stepId: string): WorkflowError {
  return new WorkflowError(
    'STEP_ENDED',
    `The run ${runId} is over (${status}), so the step ${JSON.stringify(stepId.slice(0, 100))} waits no longer. wf_status tells how it ended.`,
    { data: { runId, stepId } },
  );
}
