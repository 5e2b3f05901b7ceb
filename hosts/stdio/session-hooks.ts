import type { HookedSession, Hooks } from '../../agents/hooks/hooks.ts';

/** The hooks of a session that a host calls (H-17). None of them rejects. */
export interface SessionHooks {
  /** The session begins; what it adds is said to the model with its first message. */
  sessionStart(source: 'startup' | 'resume'): Promise<{ readonly additionalContext: string | undefined }>;
  /** A turn of the main conversation is over, unless `block` gives the model its next instruction. */
  stop(
    end: { readonly lastAssistantMessage: string; readonly stopHookActive: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly block: string | undefined }>;
  sessionEnd(reason: string): Promise<void>;
}

/** @param signal kills hook processes that still run */
export function createSessionHooks(
  hooks: Hooks,
  session: Omit<HookedSession, 'signal'>,
  signal: AbortSignal,
): SessionHooks {
  const over = new AbortController().signal;
  return {
    sessionStart: (source) =>
      hooks.has('SessionStart')
        ? hooks.sessionStart({ ...session, signal }, { source })
        : Promise.resolve({ additionalContext: undefined }),
    stop: (end, turnSignal) =>
      hooks.has('Stop') && !turnSignal.aborted
        ? hooks.stop({ ...session, signal: AbortSignal.any([signal, turnSignal]) }, end)
        : Promise.resolve({ block: undefined }),
    // The session is over, so its own signal may have aborted; the hook's time limit is its bound.
    sessionEnd: (reason) =>
      hooks.has('SessionEnd') ? hooks.sessionEnd({ ...session, signal: over }, { reason }) : Promise.resolve(),
  };
}
