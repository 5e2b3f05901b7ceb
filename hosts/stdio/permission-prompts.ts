import { type ClientControlResponse, permissionAnswerSchema } from '../../protocol/stdio-input.ts';
import type { HostLines } from './host-lines.ts';

/** What a tool would do, for whoever decides. */
export interface PermissionQuestion {
  readonly toolName: string;
  readonly input: unknown;
  readonly toolUseId?: string | undefined;
  /** Absent for the main conversation. */
  readonly agentId?: string | undefined;
  /** Who asks, for a person: the label of the agent. */
  readonly label?: string | undefined;
  /** Why it needs a yes, in a sentence. */
  readonly reason?: string | undefined;
}

export type PermissionDecision =
  | { readonly allow: true; readonly updatedInput?: unknown }
  | { readonly allow: false; readonly message: string };

/** Asks the client whether tools may run. */
export interface PermissionPrompts {
  /** Resolves with the client's word; with a refusal when the signal aborts, the question is taken back, or nobody can answer. */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionDecision>;
  /** Takes an answer of the client; one to no open question is left alone. */
  answer(response: ClientControlResponse): void;
  /** Takes all open questions back, each with a `control_cancel_request`. */
  cancelAll(reason: string): void;
  /** Nobody answers any more: refuses what is open and all that comes. */
  close(): void;
}

export interface PermissionPromptsOptions {
  readonly lines: Pick<HostLines, 'control'>;
  readonly newUuid: () => string;
  /** The client refused and wants everything to stop. */
  readonly onInterrupt: () => void;
}

const NOBODY = 'Nobody is there to allow this any more: the client has closed its end. Go on without it.';

export function createPermissionPrompts({ lines, newUuid, onInterrupt }: PermissionPromptsOptions): PermissionPrompts {
  const open = new Map<string, (decision: PermissionDecision) => void>();
  let closed = false;

  const settle = (requestId: string, decision: PermissionDecision): boolean => {
    const resolve = open.get(requestId);
    open.delete(requestId);
    resolve?.(decision);
    return resolve !== undefined;
  };
  const takeBack = (requestId: string, message: string): void => {
    if (settle(requestId, { allow: false, message })) {
      lines.control({ type: 'control_cancel_request', request_id: requestId });
    }
  };

  return {
    ask(question, signal) {
      if (closed) return Promise.resolve({ allow: false, message: NOBODY });
      if (signal.aborted) return Promise.resolve({ allow: false, message: 'It was interrupted.' });
      const requestId = newUuid();
      return new Promise<PermissionDecision>((resolve) => {
        const onAbort = (): void => takeBack(requestId, 'It was interrupted.');
        signal.addEventListener('abort', onAbort, { once: true });
        open.set(requestId, (decision) => {
          signal.removeEventListener('abort', onAbort);
          resolve(decision);
        });
        lines.control({ type: 'control_request', request_id: requestId, request: canUseTool(question, newUuid) });
      });
    },
    answer({ response }) {
      const requestId = response.request_id;
      if (!open.has(requestId)) return;
      if (response.subtype === 'error') {
        settle(requestId, {
          allow: false,
          message: `The client could not decide: ${response.error ?? 'no reason given'}`,
        });
        return;
      }
      const answer = permissionAnswerSchema.safeParse(response.response).data;
      if (answer === undefined) {
        settle(requestId, {
          allow: false,
          message:
            'The client answered with neither {"behavior":"allow"} nor {"behavior":"deny"}, so it counts as a no.',
        });
      } else if (answer.behavior === 'allow') {
        settle(requestId, { allow: true, ...(answer.updatedInput ? { updatedInput: answer.updatedInput } : {}) });
      } else {
        settle(requestId, { allow: false, message: answer.message || 'The client refused it.' });
        if (answer.interrupt === true) onInterrupt();
      }
    },
    cancelAll(reason) {
      for (const requestId of [...open.keys()]) takeBack(requestId, reason);
    },
    close() {
      closed = true;
      for (const requestId of [...open.keys()]) settle(requestId, { allow: false, message: NOBODY });
    },
  };
}

function canUseTool(question: PermissionQuestion, newUuid: () => string): object {
  const { toolName, input, toolUseId, agentId, label, reason } = question;
  return {
    subtype: 'can_use_tool',
    tool_name: toolName,
    input,
    tool_use_id: toolUseId ?? `toolu_${newUuid().replaceAll('-', '')}`,
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(label === undefined ? {} : { description: label }),
    ...(reason === undefined ? {} : { decision_reason: reason }),
  };
}
