import type { z } from 'zod';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { describeSavedWorkflows } from '../saved-workflows/describe-saved-workflows.ts';
import type { SearchPlace } from '../saved-workflows/find-workflow.ts';
import type { BackgroundRun } from '../workflow-tool/background-run.ts';
import type { BackgroundRuns } from '../workflow-tool/background-runs.ts';
import { SCRIPT_LANGUAGE } from '../workflow-tool/script-language.ts';
import { readWorkflowInput, WORKFLOW_INPUT_SCHEMA } from '../workflow-tool/tool-input.ts';
import {
  launchOutput,
  listInput,
  listOutput,
  resultOutput,
  statusOutput,
  stopInput,
  waitingInput,
} from './background-schemas.ts';
import { defineMcpTool, jsonSchemaOf, type McpTool, type ToolCallContext } from './mcp-tool.ts';
import { patiently } from './patience.ts';
import { resultMember } from './result-member.ts';
import { describeProgress, type RunProgress } from './run-progress.ts';
import { type FoundRun, listStored, readStored } from './stored-runs.ts';

export interface BackgroundToolsOptions {
  readonly runs: BackgroundRuns;
  readonly progress: RunProgress;
  /** The state directory; absolute. */
  readonly stateRoot: string;
  readonly place: SearchPlace;
}

const DEFAULT_RESULT_WAIT_SECONDS = 45;
const DEFAULT_LIST_LIMIT = 20;

/** The tool that launches a workflow in the background. Source: spec H-1, H-2, H-10. */
export function launchTool({ runs }: Pick<BackgroundToolsOptions, 'runs'>): McpTool {
  return {
    name: 'Workflow',
    title: 'Run a workflow in the background',
    description: `Runs a workflow: a script that starts many subagents, in parallel and in stages, and returns one result. You write the script, or name a saved one. Use it when a task splits into parts that agents can do side by side, when findings should be checked by agents that did not make them, or when the user asks for a workflow.

Give one of \`script\` (the text), \`scriptPath\` (a file) and \`name\` (a saved workflow). \`args\` is any JSON value. It returns at once with a run id; the agents work in the background. Get the result with workflow_result, which waits; look in with workflow_status; end it with workflow_stop. To go on with a run that failed or was stopped, or after an edit of the script, call again with \`resumeFromRunId\`: agents that have finished cost nothing again. A script that is not valid starts nothing and says where it is wrong.

${SCRIPT_LANGUAGE}`,
    inputSchema: { ...WORKFLOW_INPUT_SCHEMA },
    outputSchema: jsonSchemaOf(launchOutput, 'output'),
    annotations: { readOnlyHint: false, destructiveHint: false },
    async call(input, { signal }) {
      const run = await runs.launch(readWorkflowInput(input ?? {}));
      // The client will never learn of its id.
      if (signal.aborted) run.stop('the client cancelled the call that started it');
      const { taskId, workflowName, runId, summary, transcriptDir, scriptPath } = run;
      const structured = {
        status: 'async_launched',
        taskId,
        taskType: 'local_workflow',
        workflowName,
        runId,
        summary,
        transcriptDir,
        scriptPath,
      } satisfies z.input<typeof launchOutput>;
      const text = `The workflow ${JSON.stringify(workflowName)} runs in the background. Wait for its result with workflow_result {"runId": ${JSON.stringify(runId)}}. Its script is ${scriptPath}: to change it, edit that file and call Workflow with scriptPath and resumeFromRunId.\n${JSON.stringify(structured)}`;
      return { structured, text };
    },
  };
}

/** The tools that look after runs. Source: spec H-10. */
export function lookAfterTools(options: BackgroundToolsOptions): readonly McpTool[] {
  return [statusTool(options), resultTool(options), stopTool(options), listTool(options)];
}

function statusTool(options: BackgroundToolsOptions): McpTool {
  return defineMcpTool({
    name: 'workflow_status',
    title: 'Look at a workflow',
    description:
      'Tells how far a workflow is, without its result. With waitSeconds it waits for the end, and tells progress meanwhile.',
    input: waitingInput,
    output: statusOutput,
    changes: 'nothing',
    async call({ runId, waitSeconds = 0 }, context) {
      const run = await lookUp(options, runId, waitSeconds, context);
      return { structured: describe(run, options.progress) };
    },
  });
}

function resultTool(options: BackgroundToolsOptions): McpTool {
  return defineMcpTool({
    name: 'workflow_result',
    title: 'Get the result of a workflow',
    description:
      'Waits for the end of a workflow and gives its result. It is still running when that takes longer than waitSeconds (45 unless given): call again.',
    input: waitingInput,
    output: resultOutput,
    changes: 'nothing',
    async call({ runId, waitSeconds = DEFAULT_RESULT_WAIT_SECONDS }, context) {
      const run = await lookUp(options, runId, waitSeconds, context);
      const structured = { ...describe(run, options.progress), ...resultMember(run.end?.resultJson) };
      const { notification } = run.end ?? {};
      return { structured, ...(notification === undefined ? {} : { text: notification }) };
    },
  });
}

function stopTool(options: BackgroundToolsOptions): McpTool {
  return defineMcpTool({
    name: 'workflow_stop',
    title: 'Stop a workflow',
    description:
      'Ends a workflow that this server started. What its agents finished is kept, so that it can go on later.',
    input: stopInput,
    output: statusOutput,
    changes: 'runs',
    async call({ runId, reason = 'workflow_stop was called' }) {
      const { runs, progress } = options;
      const own = runs.get(runId);
      if (own !== undefined) {
        own.stop(reason);
        await own.ended;
        return { structured: describe(await inThisServer(own), progress) };
      }
      const stored = await readStored(options.stateRoot, runId);
      if (stored.status !== 'running') return { structured: describe(stored, progress) };
      const instead = stored.backend === 'host' ? 'End it with wf_cancel' : `End it with wf stop ${stored.runId}`;
      throw new WorkflowError('USAGE_INVALID', `The run ${stored.runId} was not started by this tool. ${instead}.`);
    },
  });
}

function listTool({ runs, stateRoot, place }: BackgroundToolsOptions): McpTool {
  return defineMcpTool({
    name: 'workflow_list',
    title: 'List workflows',
    description: 'Lists the runs in the state directory, newest first, and the saved workflows that can be named.',
    input: listInput,
    output: listOutput,
    changes: 'nothing',
    async call({ limit = DEFAULT_LIST_LIMIT }) {
      const stored = await listStored(stateRoot, limit);
      const taskOf = (runId: string): { taskId?: string } => {
        const taskId = runs.get(runId)?.taskId;
        return taskId === undefined ? {} : { taskId };
      };
      const saved = await describeSavedWorkflows(place);
      const listed = stored.runs.map(({ runId, status, workflowName, startedAt, backend }) => ({
        runId,
        ...taskOf(runId),
        status,
        workflowName,
        startedAt,
        ...(backend === undefined ? {} : { backend }),
      }));
      return {
        structured: {
          runs: listed,
          more: stored.more,
          saved: saved.map(({ name, path, builtIn, meta }) => ({ name, description: meta.description, path, builtIn })),
        },
      };
    },
  });
}

/** Finds a run here or in the state directory, after the wait that was asked for. */
async function lookUp(
  { runs, progress, stateRoot }: BackgroundToolsOptions,
  id: string,
  seconds: number,
  context: ToolCallContext,
): Promise<FoundRun> {
  const own = runs.get(id);
  if (own === undefined) return readStored(stateRoot, id);
  const { taskId } = own;
  const patience = {
    seconds,
    describe: () => describeProgress(progress.now(taskId)),
    listen: (listener: () => void) => progress.listen(taskId, listener),
  };
  await patiently(patience, context, (signal) => endOf(own, signal));
  return inThisServer(own);
}

function endOf(run: BackgroundRun, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return Promise.race([run.ended, aborted]);
}

async function inThisServer(run: BackgroundRun): Promise<FoundRun> {
  const { runId, taskId, workflowName, startedAt, status } = run;
  const end = status === 'running' ? undefined : await run.ended;
  return { runId, taskId, workflowName, startedAt, status, ...(end === undefined ? {} : { end }) };
}

function describe(run: FoundRun, progress: RunProgress): z.input<typeof statusOutput> {
  const { runId, taskId, status, workflowName, startedAt, backend, end } = run;
  const now = taskId === undefined ? undefined : progress.now(taskId);
  const error = end?.output.error;
  return {
    runId,
    ...(taskId === undefined ? {} : { taskId }),
    status,
    workflowName,
    startedAt,
    ...(backend === undefined ? {} : { backend }),
    ...(now === undefined ? {} : { agents: { ...now.agents }, tokens: now.tokens, phase: now.phase }),
    ...(end === undefined ? {} : { outputFile: end.outputFile }),
    ...(end?.summary === undefined ? {} : { summary: end.summary }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
}
