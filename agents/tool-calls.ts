import type { AgentReporter, AgentRequest } from '../runtime/ports.ts';
import { untilAborted } from './abort.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { ToolCall, ToolResult } from './model-turns.ts';
import type { AgentTool, ToolOutput } from './tools/agent-tool.ts';
import { offeredTools } from './tools/choose-tools.ts';
import type { ToolSession } from './tools/tool-session.ts';

export interface ToolCallsContext {
  readonly tools: readonly AgentTool[];
  readonly signal: AbortSignal;
  readonly report: AgentReporter;
  readonly request: AgentRequest;
  /** Undefined when none are set, which costs nothing. */
  readonly hooks?: Hooks | undefined;
  /** True when the output limit ended the message, so that its last call may be incomplete. */
  readonly cut: boolean;
  /** What the tools of this agent keep between calls; says too what they may do. */
  readonly session: ToolSession;
}

/**
 * Runs the tool calls of one message, all at once, and gives their results in the order of the calls.
 *
 * Contract: a tool that fails, is unknown or gets a bad input gives a result with `isError` that the model can read. It
 * rejects only when the agent is aborted, and then at once.
 */
export function runToolCalls(calls: readonly ToolCall[], context: ToolCallsContext): Promise<readonly ToolResult[]> {
  return untilAborted(Promise.all(calls.map((call) => runToolCall(call, context))), context.signal);
}

async function runToolCall(call: ToolCall, context: ToolCallsContext): Promise<ToolResult> {
  const { report } = context;
  report.toolStarted(call.id, call.name);
  const { text, isError, summary, exitCode } = await context.session.run(() => outputOf(call, context));
  report.toolFinished(call.id, !isError, summary, exitCode);
  report.alive();
  return { toolUseId: call.id, content: text.toWellFormed(), isError };
}

async function outputOf(call: ToolCall, context: ToolCallsContext): Promise<ToolOutput> {
  const { tools, cut, session } = context;
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const offered = offeredTools(tools, session.host.permissions);
    const known = offered.map(({ name }) => name).join(', ') || 'none';
    return failed(`There is no tool named ${call.name}. Tools you may use: ${known}.`);
  }
  let input: unknown;
  try {
    input = JSON.parse(call.rawInput);
  } catch (error) {
    return failed(
      cut
        ? 'The call was cut off by the output limit before its input was complete. Make a shorter call.'
        : `The input of the call is no valid JSON: ${messageOf(error)}`,
    );
  }
  return context.hooks === undefined
    ? runTool(call.id, tool, input, context)
    : runHookedTool(context.hooks, call, tool, input, context);
}

/** Hooks see the call first, and may deny or change it; then what came of it (H-18). */
async function runHookedTool(
  hooks: Hooks,
  { id, name }: ToolCall,
  tool: AgentTool,
  given: unknown,
  context: ToolCallsContext,
): Promise<ToolOutput> {
  let input = given;
  if (hooks.has('PreToolUse')) {
    const verdict = await hooks.preToolUse(context, { id, name, input });
    if (verdict.decision === 'deny') return failed(`A hook denied this call of ${name}: ${verdict.reason}`);
    if (verdict.changed) {
      const text = `A hook changed the input of ${name}.`;
      context.report.transcript?.({ type: 'note', text, toolUseId: id, input: verdict.input });
    }
    input = verdict.input;
  }
  const output = await runTool(id, tool, input, context);
  if (!hooks.has('PostToolUse')) return output;
  const { feedback } = await hooks.postToolUse(context, { id, name, input }, output);
  return feedback === undefined ? output : { ...output, text: `${output.text}\n\nA hook says: ${feedback}` };
}

/** Asks the permissions, then runs the tool with the input they leave it. */
async function runTool(
  toolUseId: string,
  tool: AgentTool,
  input: unknown,
  { request, signal, session }: ToolCallsContext,
): Promise<ToolOutput> {
  const { cwd, agentId, label, phase } = request;
  try {
    const call = { tool, input, toolUseId, cwd, agent: { agentId, label, phase } };
    const verdict = await session.host.permissions.check(call, signal);
    if (!verdict.allow) {
      if (verdict.unattended !== undefined) session.refusals.add(verdict.unattended);
      return failed(verdict.message);
    }
    signal.throwIfAborted();
    return await tool.run(verdict.input, { cwd, signal, session });
  } catch (error) {
    return failed(`${tool.name} failed: ${messageOf(error)}`);
  }
}

function failed(text: string): ToolOutput {
  return { text, isError: true };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
