import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentOutcome, AgentReporter, AgentRequest } from '../../runtime/ports.ts';
import { abortError, throwIfAborted } from '../abort.ts';
import { judgeStepResult } from './judge-step-result.ts';
import type { Step, StepResult } from './step.ts';
import { stepContract } from './step-contract.ts';
import type { StepFile, StoredEnd } from './step-file.ts';

/** What became of an answer. */
export type StepReply =
  | { readonly type: 'accepted' }
  /** The same answer had been accepted before. */
  | { readonly type: 'repeated' }
  /** The step is still pending, or has used up its attempts. */
  | { readonly type: 'rejected'; readonly errors: readonly string[]; readonly usedUp: boolean };

export interface StepBoardOptions {
  readonly runId: string;
  readonly file: StepFile;
  /** What an agent type asks of whoever plays it. */
  readonly roleOf?: (agentType: string | undefined) => string | undefined;
  /** Told when a step comes, goes, or changes. */
  readonly onChange?: () => void;
}

interface OpenStep {
  readonly request: AgentRequest;
  readonly report: AgentReporter;
  readonly settle: (end: StoredEnd['end']) => void;
}

const MAX_RAW_CHARACTERS = 65_536;
const EMPTY_TEXT = '""';

/**
 * The steps of one run that wait for the connected agent, and those that no longer do.
 *
 * Contract: a step that ended under an earlier server is not asked again; its agent gets the stored end (H-16).
 */
export class StepBoard {
  readonly #options: StepBoardOptions;
  /** In the order in which they were handed out. */
  readonly #open = new Map<string, OpenStep>();
  readonly #ended = new Map<string, StoredEnd>();
  /** Answers turned down, by step; of earlier servers too. */
  readonly #rejections = new Map<string, number>();
  /** Why a step is gone that nobody answered. */
  readonly #gone = new Map<string, string>();
  /** Keys of the steps that an earlier server left open, in the order in which it handed them out. */
  readonly leftOpen: readonly string[];

  constructor(options: StepBoardOptions) {
    this.#options = options;
    const offered = new Map<string, string>();
    for (const row of options.file.read()) {
      if (row.type === 'offered') offered.set(row.stepId, row.key);
      else if (row.type === 'rejected') this.#countRejection(row.stepId);
      else this.#ended.set(row.stepId, row);
    }
    this.leftOpen = [...offered].filter(([stepId]) => !this.#ended.has(stepId)).map(([, key]) => key);
  }

  get openCount(): number {
    return this.#open.size;
  }

  knows(stepId: string): boolean {
    return this.#open.has(stepId) || this.#ended.has(stepId) || this.#gone.has(stepId);
  }

  pending(): readonly Step[] {
    return [...this.#open].map(([stepId, { request, report }]) => {
      report.alive();
      return this.#describe(stepId, request);
    });
  }

  /** Hands a call out as a step; settles with its answer. Rejects as a backend may. */
  async offer(request: AgentRequest, signal: AbortSignal, report: AgentReporter): Promise<AgentOutcome> {
    throwIfAborted(signal);
    const stepId = this.#idOf(request);
    report.alive();
    report.transcript?.({ type: 'user', text: request.prompt });
    const known = this.#ended.get(stepId)?.end;
    const end = known ?? (await this.#answered(stepId, request, signal, report));
    return outcomeOf(end, request, report);
  }

  /**
   * Takes an answer.
   *
   * @throws STEP_UNKNOWN for a step that this run never handed out; STEP_ENDED for another answer to one that has ended;
   *   STATE_UNWRITABLE, and the step is still pending
   */
  answer(stepId: string, result: StepResult): StepReply {
    const fingerprint = fingerprintOf(result);
    const open = this.#open.get(stepId);
    if (open === undefined) return this.#answerLate(stepId, fingerprint);
    const { request, report } = open;
    report.alive();
    const verdict = this.#judge(stepId, request, result);
    if (verdict.type !== 'invalid') {
      const attempts = request.output === undefined ? 0 : (this.#rejections.get(stepId) ?? 0) + 1;
      this.#end(open, { stepId, fingerprint, end: verdict.type === 'value' ? { ...verdict, attempts } : verdict });
      return { type: 'accepted' };
    }
    const { errors } = verdict;
    this.#options.file.append({ type: 'rejected', stepId, errors });
    this.#countRejection(stepId);
    report.transcript?.({ type: 'tool_result', isError: true, content: errors.join('\n') });
    const usedUp = (this.#rejections.get(stepId) ?? 0) >= request.maxStructuredOutputRetries;
    if (usedUp) {
      const lastText = (JSON.stringify(result.output) ?? '').slice(0, MAX_RAW_CHARACTERS).toWellFormed();
      this.#end(open, { stepId, fingerprint, end: { type: 'invalid', errors, lastText } });
    } else this.#options.onChange?.();
    return { type: 'rejected', errors, usedUp };
  }

  /** An empty text is asked for once more. */
  #judge(stepId: string, request: AgentRequest, result: StepResult): ReturnType<typeof judgeStepResult> {
    const verdict = judgeStepResult(request, result);
    const isEmpty = request.output === undefined && verdict.type === 'value' && verdict.valueJson === EMPTY_TEXT;
    return isEmpty && !this.#rejections.has(stepId)
      ? { type: 'invalid', errors: ['output: is an empty text; hand in the same again if that is meant'] }
      : verdict;
  }

  #end(open: OpenStep, ended: StoredEnd): void {
    this.#options.file.append({ type: 'ended', ...ended });
    this.#ended.set(ended.stepId, ended);
    this.#open.delete(ended.stepId);
    open.settle(ended.end);
    this.#options.onChange?.();
  }

  #answered(
    stepId: string,
    request: AgentRequest,
    signal: AbortSignal,
    report: AgentReporter,
  ): Promise<StoredEnd['end']> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredEnd['end']>();
    const onAbort = (): void => {
      const error = abortError(signal);
      this.#open.delete(stepId);
      this.#gone.set(stepId, error.message);
      reject(error);
      this.#options.onChange?.();
    };
    const settle: OpenStep['settle'] = (end) => {
      signal.removeEventListener('abort', onAbort);
      resolve(end);
    };
    this.#options.file.append({ type: 'offered', stepId, key: request.key });
    this.#open.set(stepId, { request, report, settle });
    signal.addEventListener('abort', onAbort, { once: true });
    this.#options.onChange?.();
    return promise;
  }

  #answerLate(stepId: string, fingerprint: string): StepReply {
    const ended = this.#ended.get(stepId);
    if (ended?.fingerprint === fingerprint) return { type: 'repeated' };
    if (ended !== undefined) {
      throw new WorkflowError(
        'STEP_ENDED',
        `The step ${stepId} has its answer, and this is another one; the first stands. Ask wf_status for the steps that wait.`,
        { data: { stepId } },
      );
    }
    const gone = this.#gone.get(stepId);
    if (gone !== undefined) {
      throw new WorkflowError('STEP_ENDED', `The step ${stepId} waits no longer: ${gone}`, { data: { stepId } });
    }
    throw this.#unknown(stepId);
  }

  #unknown(stepId: string): WorkflowError {
    const { runId } = this.#options;
    const other = /^a[0-9a-f]{16}\.(wf_[a-z0-9-]+)$/.exec(stepId)?.[1];
    const what =
      other !== undefined && other !== runId
        ? `The step ${stepId} belongs to the run ${other}, not to ${runId}`
        : `The run ${runId} has handed out no step ${JSON.stringify(stepId.slice(0, 100))}`;
    const waiting = [...this.#open.keys()].slice(0, 5).join(', ') || 'none';
    return new WorkflowError('STEP_UNKNOWN', `${what}. Steps that wait: ${waiting}.`, { data: { stepId, runId } });
  }

  #describe(stepId: string, request: AgentRequest): Step {
    const { key, label, phase, prompt, output, options, worktree, cwd } = request;
    const role = this.#options.roleOf?.(options.agentType);
    return {
      stepId,
      agentKey: key,
      name: label,
      phase,
      instruction: prompt,
      ...(output === undefined ? {} : { outputSchema: output.schema }),
      attempt: (this.#rejections.get(stepId) ?? 0) + 1,
      contract: stepContract(request),
      ...(worktree === undefined ? {} : { cwd }),
      ...(role === undefined ? {} : { role }),
      ...(options.model === undefined ? {} : { model: options.model }),
    };
  }

  #idOf({ agentId }: AgentRequest): string {
    return `${agentId}.${this.#options.runId}`;
  }

  #countRejection(stepId: string): void {
    this.#rejections.set(stepId, (this.#rejections.get(stepId) ?? 0) + 1);
  }
}

function outcomeOf(end: StoredEnd['end'], { label }: AgentRequest, report: AgentReporter): AgentOutcome {
  switch (end.type) {
    case 'value': {
      const { valueJson, attempts } = end;
      report.transcript?.({ type: 'assistant', value: JSON.parse(valueJson) });
      const usage = { inputTokens: 0, outputTokens: 0 };
      return { valueJson, empty: valueJson === EMPTY_TEXT, usage, toolUses: 0, attempts };
    }
    case 'null':
      report.transcript?.({ type: 'error', code: end.code, message: end.message });
      throw new WorkflowError(end.code, end.message);
    case 'invalid': {
      const message = `No answer of the connected agent to "${label}" fitted its schema. The last one: ${end.errors.join('; ')}. Loosen the schema, or explain it in the prompt.`;
      report.transcript?.({ type: 'error', code: 'AGENT_OUTPUT_INVALID', message });
      throw new WorkflowError('AGENT_OUTPUT_INVALID', message, {
        data: { lastText: end.lastText, validationErrors: end.errors },
      });
    }
  }
}

/** Tells a repeated answer from another one. */
export function fingerprintOf({ status, summary, output }: StepResult): string {
  return hash('sha256', textOf({ status, summary: summary ?? null, output: output ?? null }), 'hex');
}

/** Half characters have no canonical form. */
function textOf(value: unknown): string {
  try {
    return canonicalize(value) ?? '';
  } catch {
    return JSON.stringify(value);
  }
}
