import type { AgentReporter, AgentRequest } from '../../runtime/ports.ts';

/** Events that a hook can be set for. Source: spec H-17. */
export const HOOK_EVENTS = [
  'SubagentStart',
  'SubagentStop',
  'PreToolUse',
  'PostToolUse',
  'SessionStart',
  'SessionEnd',
  'Stop',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The agent that an event is about. */
export interface HookedAgent {
  readonly request: AgentRequest;
  /** Once it aborts, hook processes that still run are killed. */
  readonly signal: AbortSignal;
  readonly report: AgentReporter;
}

/** A tool call that an event is about. */
export interface HookedToolCall {
  readonly id: string;
  readonly name: string;
  /** Parsed JSON. */
  readonly input: unknown;
}

/** The conversation of a host that an event is about. */
export interface HookedSession {
  readonly sessionId: string;
  /** Absolute path of the conversation's transcript; absent where it has none. */
  readonly transcriptPath?: string;
  /** Absolute. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Told, in a sentence, what a hook did wrong. */
  warn(text: string): void;
}

/** What the hooks of `PreToolUse` say about a call. Nothing that they say opens what permissions close. */
export type PreToolUseVerdict =
  | {
      readonly decision: 'deny';
      /** For the model. */
      readonly reason: string;
    }
  | {
      readonly decision: undefined;
      /** What the tool gets; the call's own input unless a hook changed it. */
      readonly input: unknown;
      /** A hook changed the input. */
      readonly changed: boolean;
    };

/**
 * Hooks of a project, its user and its plugins, ready to run. Source: spec H-17, H-18.
 *
 * Contract:
 * - Nothing here ever rejects, except with the reason of the agent's own abort: a hook that is slow, broken or missing is
 *   a warning.
 * - All hooks of an event run at the same time; what they say is put together in the order of their settings.
 * - Ask {@link has} first and make nothing for an event that has no hooks.
 */
export interface Hooks {
  has(event: HookEvent): boolean;
  /** An agent is about to get its task. */
  subagentStart(agent: HookedAgent): Promise<{
    /** For the model, beside its task. */
    readonly additionalContext: string | undefined;
  }>;
  /**
   * An agent has its answer, and its transcript is on the disk.
   *
   * @param end `stopHookActive`: it goes on only because a hook held back its earlier answer
   */
  subagentStop(
    agent: HookedAgent,
    end: { readonly lastAssistantMessage: string; readonly stopHookActive: boolean },
  ): Promise<{
    /** Its next instruction, when a hook holds the answer back. */
    readonly block: string | undefined;
  }>;
  /** A tool is about to run; before permissions are asked for. */
  preToolUse(agent: HookedAgent, call: HookedToolCall): Promise<PreToolUseVerdict>;
  /** A tool has run, well or not. */
  postToolUse(
    agent: HookedAgent,
    call: HookedToolCall,
    response: { readonly text: string; readonly isError: boolean },
  ): Promise<{
    /** For the model, beside the result. */
    readonly feedback: string | undefined;
  }>;
  /** A host's session begins. */
  sessionStart(
    session: HookedSession,
    about: { readonly source: 'startup' | 'resume' },
  ): Promise<{ readonly additionalContext: string | undefined }>;
  /** A host's session is over. */
  sessionEnd(session: HookedSession, about: { readonly reason: string }): Promise<void>;
  /** A turn of a host's own conversation is over. */
  stop(
    session: HookedSession,
    end: { readonly lastAssistantMessage: string; readonly stopHookActive: boolean },
  ): Promise<{ readonly block: string | undefined }>;
}
