/** What the log says of an agent that failed; a reader who shows the failure itself can tell it by this. */
export function agentFailureText(label: string, error: { readonly code: string; readonly message: string }): string {
  return `Agent "${label}" failed: ${error.message} [${error.code}]`;
}
