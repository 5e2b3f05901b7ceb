/**
 * Writes what is generated of `plugin/`: its manifests, with the version of the package, and the skill, with the language
 * of scripts as the Workflow tool explains it. `plugin/server/start.mjs` is written by hand.
 *
 *   node tools/build-plugin.mjs            writes the files
 *   node tools/build-plugin.mjs --check    fails when one is stale
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCRIPT_LANGUAGE } from '../hosts/workflow-tool/script-language.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { version, author, license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

const manifest = {
  name: 'wf',
  version,
  description: 'Workflow scripts that put many agents to work: isolated, resumable, observable.',
  author: { name: author },
  license,
  keywords: ['workflow', 'agents', 'orchestration'],
};

const servers = { mcpServers: { wf: { command: 'node', args: ['$' + '{CLAUDE_PLUGIN_ROOT}/server/start.mjs'] } } };

const skill = `---
name: workflows
description: Write and run workflow scripts that put many agents to work in parallel and in stages. Use it when a task splits into parts that agents can do side by side, when findings should be checked by agents that did not make them, or when the user asks for a workflow.
---

# Workflows

A workflow is a script that starts subagents and returns one result. This plugin's MCP server \`wf\` runs it, in one of two ways:

- **In the background**: call \`Workflow\` with \`script\`, \`scriptPath\` or \`name\`. Agents of the backend that the server was started with do the work: with \`ANTHROPIC_API_KEY\` in its environment the Messages API, else simulated agents, which are for trying a script out. Wait with \`workflow_result\`, look in with \`workflow_status\`, end it with \`workflow_stop\`; \`workflow_list\` shows the runs and the saved workflows.
- **By yourself, with no key**: call \`wf_start\`. It hands out each agent's work as a step; do it, hand it in with \`wf_continue\`, and go on until the status is \`completed\`. With \`maxPending\` above 1 you get several steps at a time, for subagents of your own. After a restart \`wf_status\` shows where you were.

Keep a script that worked in \`.wf/workflows/<name>.js\`: then it is run by \`name\`. A run that failed or was stopped goes on with \`resumeFromRunId\`; what its agents finished costs nothing again.

${SCRIPT_LANGUAGE}
`;

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

const FILES = {
  '.claude-plugin/plugin.json': json(manifest),
  '.codebuddy-plugin/plugin.json': json(manifest),
  '.mcp.json': json(servers),
  'hooks/hooks.json': json({ hooks: {} }),
  'skills/workflows/SKILL.md': skill,
};

let stale = 0;
for (const [name, text] of Object.entries(FILES)) {
  const file = path.join(root, 'plugin', name);
  let before;
  try {
    before = readFileSync(file, 'utf8');
  } catch {
    before = undefined;
  }
  if (before === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`plugin/${name} is stale; run node tools/build-plugin.mjs`);
    stale += 1;
  } else {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
