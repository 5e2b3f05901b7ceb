import type { z } from 'zod';
import {
  type ControlRequest,
  cancelMessageRequestSchema,
  initializeRequestSchema,
  interruptRequestSchema,
  setModelRequestSchema,
  setPermissionModeRequestSchema,
  stopTaskRequestSchema,
} from '../../protocol/stdio-input.ts';
import { toErrorRecord } from '../../protocol/workflow-error.ts';
import type { HostLines } from './host-lines.ts';
import type { PermissionPrompts } from './permission-prompts.ts';
import type { Session } from './session.ts';
import type { SessionFacts } from './session-facts.ts';
import { PERMISSION_MODES, type SessionSettings } from './session-settings.ts';
import type { TaskWatch } from './task-watch.ts';

export interface ControlRequestsOptions {
  readonly sessionId: string;
  readonly session: Session;
  readonly watch: TaskWatch;
  readonly prompts: PermissionPrompts;
  readonly settings: SessionSettings;
  readonly lines: Pick<HostLines, 'control'>;
  readonly mcpServers: SessionFacts['mcpServers'];
  /** What `initialize` is answered with; no account data (E-13). */
  readonly describe: () => Readonly<Record<string, unknown>>;
}

type Answer = Readonly<Record<string, unknown>>;

/** What went wrong with a request, for whoever sent it. */
class RefusedRequest extends Error {}

/** Answers control requests, each with one `control_response`. Never throws. */
export function createControlRequests(options: ControlRequestsOptions): (request: ControlRequest) => void {
  const { lines } = options;
  return ({ request_id: requestId, request, ...envelope }) => {
    let answered = false;
    const succeed = (response: Answer): void => {
      if (answered) return;
      answered = true;
      lines.control({ type: 'control_response', response: { subtype: 'success', request_id: requestId, response } });
    };
    try {
      succeed(act(request, { ...options, envelope, acknowledge: succeed }));
    } catch (error) {
      const text = error instanceof RefusedRequest ? error.message : toErrorRecord(error).message;
      lines.control({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error: text } });
    }
  };
}

interface Acting extends ControlRequestsOptions {
  /** Fields beside the request. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** Writes the answer before what it answers is done. */
  readonly acknowledge: (response: Answer) => void;
}

function act(request: ControlRequest['request'], options: Acting): Answer {
  const { session, settings } = options;
  switch (request.subtype) {
    case 'initialize':
      return initialize(request, options);
    case 'interrupt':
      return interrupt(request, options);
    case 'stop_task':
      return stopTask(request, options);
    case 'set_permission_mode': {
      const { mode } = read(setPermissionModeRequestSchema, request);
      if (!(PERMISSION_MODES as readonly string[]).includes(mode)) {
        throw new RefusedRequest(
          `There is no permission mode ${JSON.stringify(mode)}; it takes ${PERMISSION_MODES.join(', ')}.`,
        );
      }
      settings.permissionMode = mode;
      return { mode };
    }
    case 'set_model':
      settings.modelName = read(setModelRequestSchema, request).model || undefined;
      return {};
    case 'cancel_async_message':
      return { cancelled: session.cancelMessage(read(cancelMessageRequestSchema, request).message_uuid) };
    case 'mcp_status':
      return { mcpServers: options.mcpServers().map((server) => ({ ...server })) };
    case 'set_max_thinking_tokens':
      return {};
    default:
      throw new RefusedRequest(`wf knows no control request ${JSON.stringify(request.subtype.slice(0, 100))}.`);
  }
}

function initialize(request: ControlRequest['request'], { settings, describe }: Acting): Answer {
  const { systemPrompt, appendSystemPrompt, hooks } = read(initializeRequestSchema, request);
  const replaced = typeof systemPrompt === 'string' ? systemPrompt : systemPrompt?.join('\n\n');
  if (replaced !== undefined && replaced.trim() !== '') settings.systemPrompt = replaced;
  if (appendSystemPrompt) settings.appendedPrompt = appendSystemPrompt;
  const hasHooks = Object.keys(hooks ?? {}).length > 0;
  // Callbacks of the client are not called: it must not believe that they guard anything.
  return { ...describe(), ...(hasHooks ? { hooks_applied: false } : {}) };
}

/** The answer goes out before anything ends (E-11). */
function interrupt(request: ControlRequest['request'], options: Acting): Answer {
  const { session, prompts, sessionId, envelope, acknowledge } = options;
  const { session_id: named = envelope['session_id'], cancel_queued: dropQueued } = read(
    interruptRequestSchema,
    request,
  );
  if (typeof named === 'string' && named !== '' && named !== sessionId) return { still_queued: [] };
  const { stillQueued, cancelled } = session.queued(dropQueued === true);
  acknowledge({ still_queued: stillQueued, ...(dropQueued === true ? { cancelled } : {}) });
  prompts.cancelAll('It was interrupted.');
  session.interrupt();
  return {};
}

function stopTask(request: ControlRequest['request'], { watch, acknowledge }: Acting): Answer {
  const { task_id: taskId } = read(stopTaskRequestSchema, request);
  if (!watch.knows(taskId)) throw new RefusedRequest(`There is no task ${taskId}. ${watch.describeLive()}`);
  acknowledge({});
  watch.stop(taskId, 'client', 'The client stopped the task');
  return {};
}

function read<Schema extends z.ZodType>(schema: Schema, request: ControlRequest['request']): z.infer<Schema> {
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RefusedRequest(`The request ${request.subtype} is wrong at "${issue?.path.join('.')}": ${issue?.message}.`);
}
