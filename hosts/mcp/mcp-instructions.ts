/** What a client's model is told about the server as a whole. */
export const MCP_INSTRUCTIONS = `Workflows are scripts that put many agents to work: in parallel, in pipelines, in loops. There are two ways to run \
one. With wf_start you do each agent's step yourself: do what a step asks, hand it in with wf_continue, and go on until the status is \
completed; nothing else is needed. With Workflow, where it is offered, agents of a configured backend work in the background: wait with \
workflow_result, or look in with workflow_status. A run that was broken off goes on where it stopped.`;

/** Said in place of everything else where workflows are switched off (H-5). */
export function disabledInstructions(switchedOffBy: string): string {
  return `Workflows are switched off here by ${switchedOffBy}, so this server has no tools.`;
}
