/**
 * Drives wf from the Claude Agent SDK (`npm install @anthropic-ai/claude-agent-sdk --omit=optional`): wf takes the place of
 * the program that the SDK starts. Runs the saved workflow `tea`; with a key, the model may be talked to as well.
 *
 *   WF=$(npm root)/wf-runtime/bin/wf.mjs node 13-drive-from-agent-sdk.mjs
 */
// #region drive
import { query } from '@anthropic-ai/claude-agent-sdk';

async function* prompts() {
  yield { type: 'user', message: { role: 'user', content: '/tea {"kind":"black"}' }, parent_tool_use_id: null };
}

const messages = query({
  prompt: prompts(),
  options: { pathToClaudeCodeExecutable: process.env.WF, executable: 'node', permissionMode: 'default' },
});

let name = '';
for await (const message of messages) {
  if (message.subtype === 'task_started') {
    name = message.workflow_name;
    console.log(`${name}: started`);
  } else if (message.subtype === 'task_progress') {
    console.log(`${name}: ${message.summary}`);
  } else if (message.subtype === 'task_notification') {
    console.log(`${name}: ${message.status}`);
  } else if (message.type === 'result' && message.origin?.kind === 'task-notification') {
    console.log(message.result);
  }
}
// #endregion
