/** What a client may change while a session runs. */
export interface SessionSettings {
  permissionMode: string;
  /** Alias or id; undefined for the model's default. */
  modelName: string | undefined;
  /** The client's own instructions for the main conversation, instead of ours. */
  systemPrompt: string | undefined;
  /** Added to the instructions. */
  appendedPrompt: string | undefined;
}

/** The modes that a client may name. Source: the permission modes of the public agent SDKs. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk', 'auto'] as const;
