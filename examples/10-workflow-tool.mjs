// Gives an agent CLI the Workflow tool: the model writes a script, it runs in the background, and its end comes as a message.
// It reads 03-fan-out-and-synthesis.js, which must stand beside it.
// node examples/10-workflow-tool.mjs
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region embed
import { createSimulatedBackend, createWorkflowTool, TaskTracker } from 'wf-runtime';

/** An agent CLI in small: a conversation whose model has the tools Workflow and TaskStop. */
function openConversation({ callModel, backend, stateDir, onStreamLine }) {
  const messages = [];
  const notifications = [];
  let wake = () => {};

  const workflow = createWorkflowTool({
    backend, // who does the work of the agents: createAnthropicBackend({ apiKey }), or one of your own
    stateDir,
    onStreamLine, // progress, for whoever watches
    onNotification: ({ notification }) => {
      notifications.push(notification);
      wake();
    },
  });
  // Undefined where workflows are switched off by the environment or by settings.
  const tools = workflow === undefined ? [] : [workflow, workflow.taskStop];
  const offered = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));

  async function use({ id, name, input }) {
    const tool = tools.find((one) => one.name === name);
    const { text, isError } = await tool.call(input, { toolUseId: id });
    return { type: 'tool_result', tool_use_id: id, content: text, is_error: isError };
  }

  async function say(content) {
    messages.push({ role: 'user', content });
    for (;;) {
      const reply = await callModel({ messages, tools: offered });
      messages.push({ role: 'assistant', content: reply });
      const uses = reply.filter((block) => block.type === 'tool_use');
      if (uses.length === 0) return reply.map((block) => block.text).join('');
      messages.push({ role: 'user', content: await Promise.all(uses.map(use)) });
    }
  }

  /** Waits for a workflow to end, and gives the model a turn for it. */
  async function nextNotification() {
    while (notifications.length === 0) await new Promise((resolve) => (wake = resolve));
    return say(notifications.shift());
  }

  return { say, nextNotification, close: async () => workflow?.close() };
}
// #endregion

/** Stands in for a model: writes a workflow when it is asked, and reports the notification. */
const script = await readFile(new URL('./03-fan-out-and-synthesis.js', import.meta.url), 'utf8');
async function callModel({ messages, tools }) {
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['Workflow', 'TaskStop'],
  );
  const { content } = messages.at(-1);
  if (content === 'Tabs or spaces?') {
    const input = { script, args: { question: content } };
    return [{ type: 'tool_use', id: 'toolu_1', name: 'Workflow', input }];
  }
  if (typeof content !== 'string') return [{ type: 'text', text: content[0].content.split('\n')[0] }];
  return [{ type: 'text', text: content.match(/<summary>(.*)<\/summary>/)[1] }];
}

const stateDir = await mkdtemp(join(tmpdir(), 'wf-tool-'));
// #region use
const tracker = new TaskTracker();
const conversation = openConversation({
  callModel,
  backend: createSimulatedBackend(),
  stateDir,
  onStreamLine: (line) => tracker.accept(JSON.parse(line), Date.now()),
});
// #endregion
try {
  const first = await conversation.say('Tabs or spaces?');
  assert.match(first, /^The workflow ".+" runs in the background: task wf_/);
  const second = await conversation.nextNotification();
  assert.match(second, /Completed workflow/);
  assert.equal(tracker.tasks()[0].status, 'completed');
  console.log(second);
} finally {
  await conversation.close();
  await rm(stateDir, { recursive: true, force: true });
}
