/** `wf-runtime`: runs workflow scripts that a model wrote. The list below is the whole public interface. */

// Backends
export { createAnthropicBackend } from './agents/anthropic/anthropic-backend.ts';
export type { Hooks } from './agents/hooks/hooks.ts';
export { type LoadHooksOptions, loadHooks } from './agents/hooks/load-hooks.ts';
export { openProcessBackend } from './agents/process/process-backend.ts';
export { loadResponsesFile } from './agents/scripted/load-responses-file.ts';
export { createScriptedBackend } from './agents/scripted/scripted-backend.ts';
export { createSimulatedBackend } from './agents/simulated/simulated-backend.ts';
export { createMcpTools, type McpTools, type McpToolsOptions } from './agents/tools/mcp-tools.ts';
export type { PermissionMode } from './agents/tools/permissions/permission-modes.ts';
export type {
  AskPermission,
  PermissionAnswer,
  PermissionOptions,
  PermissionQuestion,
} from './agents/tools/permissions/permissions.ts';
export type { SandboxChoice } from './agents/tools/shell/command-sandbox.ts';
export type { ShellOptions } from './agents/tools/tool-host.ts';
export { createGitWorktrees, type GitWorktreesOptions } from './agents/worktrees/git-worktrees.ts';
export { lastRunId, listRuns, resolveRunId } from './cache/run-listing.ts';
// State
export { createRunStore } from './cache/run-store.ts';
export { createSharedResults } from './cache/shared-results.ts';
// Emitters
export { createStreamJsonEmitter, projectStreamJson } from './emitters/stream-json.ts';
export { renderTaskNotification } from './emitters/task-notification.ts';
export { TaskTracker } from './emitters/task-tracker.ts';
export { createTextEmitter } from './emitters/text.ts';
// The Workflow tool of an agent CLI
export type { BackgroundRun, EndedRun, LaunchedTask } from './hosts/workflow-tool/background-run.ts';
export {
  createWorkflowTool,
  type WorkflowTool,
  type WorkflowToolOptions,
} from './hosts/workflow-tool/create-workflow-tool.ts';
export type { ToolInputSchema } from './hosts/workflow-tool/tool-input.ts';
export type {
  ModelTool,
  TaskStopped,
  ToolCallContext,
  ToolRefusal,
  WorkflowLaunched,
} from './hosts/workflow-tool/workflow-tool.ts';
// Formats and errors
export type { Census, CoreEvent, CoreEventData, CoreEventType, Usage } from './protocol/core-event.ts';
export { ERROR_CODES, type ErrorCode, type ErrorKind } from './protocol/error-codes.ts';
export type { JournalRow } from './protocol/journal-row.ts';
export type { ResponsesFile, ResponseTurn } from './protocol/responses-file.ts';
export type { RunOutput, RunRecord } from './protocol/run-record.ts';
export {
  type ErrorRecord,
  isWorkflowError,
  type ScriptPlace,
  WorkflowError,
  type WorkflowErrorOptions,
} from './protocol/workflow-error.ts';
export type { PhaseDeclaration, WorkflowMeta } from './protocol/workflow-meta.ts';
export { callKey, canonicalOptions } from './runtime/calls/call-key.ts';
export type { ModelPrice, PriceTable, TokenPrices } from './runtime/costs/price-table.ts';
// Ports, for adapters of your own
export type {
  AgentBackend,
  AgentFiles,
  AgentMeta,
  AgentOptions,
  AgentOutcome,
  AgentReporter,
  AgentRequest,
  AgentRunPlace,
  AgentUsage,
  AnswerVerdict,
  Clock,
  EventLog,
  EventSink,
  JournalContents,
  JournalStore,
  OutputContract,
  ResultRowHead,
  RunDirectory,
  RunStore,
  SharedResult,
  SharedResultAbout,
  SharedResults,
  StoredRow,
  TimerHandle,
  TranscriptRow,
  TransientFailure,
  Worktree,
  WorktreeEnd,
  WorktreePlace,
  Worktrees,
} from './runtime/ports.ts';
// Try a script out
export type {
  Finding,
  FindingKind,
  RehearsalOptions,
  RehearsalReport,
  RehearsedCall,
  VariantKind,
} from './runtime/rehearse/rehearsal.ts';
export { rehearseWorkflow } from './runtime/rehearse/rehearse-workflow.ts';
export type { ImportedCall } from './runtime/replay/imported-results.ts';
export { resumeWorkflow } from './runtime/resume-workflow.ts';
export {
  DEFAULT_LIMITS,
  type FoundWorkflow,
  type ResumeOptions,
  type RunHandle,
  type RunLimits,
  type RunResult,
  type StartOptions,
  type WorkflowOptions,
} from './runtime/run-options.ts';
// Run and resume
export { runWorkflow, type WorkflowResult } from './runtime/run-workflow.ts';
export { checkScript, type ScriptWarning } from './runtime/script/check-script.ts';
export { type ParsedScript, parseScript } from './runtime/script/parse-script.ts';
export { startWorkflow } from './runtime/start-workflow.ts';
