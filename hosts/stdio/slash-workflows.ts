import { isNestedTooDeeply, MAX_JSON_LEVELS } from '../../protocol/json-nesting.ts';
import type { HostLines } from './host-lines.ts';
import { type SlashCommand, slashArgs } from './slash-command.ts';
import type { Transcript } from './transcript.ts';
import type { Turn, TurnOutcome } from './turn.ts';
import { sayAsAssistant } from './turn-runner.ts';
import type { CallWorkflow } from './workflow-host-tool.ts';

/** Runs saved workflows that the client names. */
export interface SlashWorkflows {
  run(command: SlashCommand, turn: Turn): Promise<TurnOutcome>;
}

export interface SlashWorkflowsOptions {
  readonly callWorkflow: CallWorkflow;
  readonly lines: HostLines;
  readonly transcript: Transcript;
  readonly newUuid: () => string;
  /** Why workflows may not run here, if they may not. */
  readonly refusal: string | undefined;
}

/**
 * Shows a saved workflow that the client named as the call of the tool `Workflow` that it stands for, so that readers find
 * the run's ids where they are for a run that the model started, and the model finds it in its history.
 */
export function createSlashWorkflows(options: SlashWorkflowsOptions): SlashWorkflows {
  const { callWorkflow, lines, transcript, newUuid, refusal } = options;
  return {
    async run({ name, rest }, turn) {
      if (refusal !== undefined) return { type: 'failed', text: refusal };
      const argsJson = slashArgs(rest);
      const args: unknown = argsJson === undefined ? undefined : JSON.parse(argsJson);
      if (isNestedTooDeeply(args)) return { type: 'failed', text: DEEP_ARGS };
      const input = { name, ...(args === undefined ? {} : { args }) };
      const toolUseId = `toolu_${newUuid().replaceAll('-', '')}`;
      sayAsAssistant([{ type: 'tool_use', id: toolUseId, name: 'Workflow', input }], options);
      const { run, text, isError, structured } = await callWorkflow(input, { toolUseId, turn });
      lines.say({
        type: 'user',
        message: {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: toolUseId, content: text, ...(isError ? { is_error: true } : {}) },
          ],
        },
        parent_tool_use_id: null,
        ...(structured === undefined ? {} : { tool_use_result: structured }),
      });
      transcript.add(
        {
          role: 'assistant',
          blocks: [{ type: 'tool_use', id: toolUseId, name: 'Workflow', rawInput: JSON.stringify(input) }],
        },
        { role: 'user', toolResults: [{ toolUseId, content: text, isError }] },
      );
      if (turn.signal.aborted) return { type: 'interrupted' };
      if (run === undefined) return { type: 'failed', text };
      const said = `The workflow "${run.workflowName}" runs in the background: task ${run.taskId}, run ${run.runId}.`;
      sayAsAssistant([{ type: 'text', text: said }], options);
      return { type: 'done', text: said, stopReason: 'end_turn' };
    },
  };
}

const DEEP_ARGS = `Nothing was started: the args are nested more than ${MAX_JSON_LEVELS.toLocaleString('en-US')} levels deep. Give flatter JSON, or the deep part as a text. [USAGE_INVALID]`;
