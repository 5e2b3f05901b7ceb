/**
 * Teaches a model the language of workflow scripts: completely, and briefly enough to stand in every conversation. It is
 * part of the Workflow tool's description (H-4), of the prompt of `wf new`, and of the plugin's skill. Each fenced script
 * is whole, and a test runs it.
 */
export const SCRIPT_LANGUAGE = `## The script

One file of plain JavaScript (no TypeScript, no import, no require). It begins with \`export const meta = {…}\`, which is a literal: no variables, calls or \`\${}\` in it. The rest is the body of an async function: use \`await\` and \`return\` at the top level. What you return must be JSON and is the result. meta: \`name\` and \`description\` are required; \`phases: [{ title, detail? }]\` and \`whenToUse\` are optional.

### agent(prompt, options?)
Asks one subagent. It starts with an empty context: it sees its prompt and nothing of this conversation, of the script, or of other agents. So say everything it needs: the goal, paths, facts found so far, and the form of the answer. It has its own tools and turns.
- Without \`schema\` you get its final text. With \`schema\` (a JSON Schema) it must answer in that form, and you get the checked value: give \`required\` and \`description\`s, and prefer a schema wherever code reads the answer.
- You get \`null\` when the agent died of an API error after its retries, or was skipped. Check for it: \`results.filter(Boolean)\`, \`if (!plan) return …\`.
- It rejects (try/catch) when there was no usable answer, the agent type is unknown, or a time limit or the run's limit was reached.
- Options, all optional: \`label\` (short name that people see), \`phase\`, \`schema\`, \`model\` ('haiku', 'sonnet', 'opus' or an id), \`effort\` ('low' … 'max'), \`agentType\` (for example 'Explore'), \`tools\` and \`disallowedTools\` (names), \`isolation: 'worktree'\` (a git worktree of its own, for agents that change files side by side; costly), \`maxTurns\`, \`timeoutMs\`, \`stallMs\`, \`lane\`. Leave model and effort out unless there is a reason.

### The other words
- \`parallel([() => agent(…), …])\`: starts all functions at once and waits for all; results in order. Pass functions, not promises. One that throws gives \`null\`.
- \`pipeline(items, stage1, stage2, …)\`: each item goes through the stages on its own, without waiting for the others. A stage is \`(previous, item, index) => …\`; for the first, previous is the item. \`null\` or a throw ends that item as \`null\`. Prefer it to several \`parallel\`s; use \`parallel\` where you need all results at once, to compare or merge them.
- \`phase('Title')\`: agents from here on are shown in that phase; \`phase('Title', async () => …)\` for a part. Inside \`parallel\` and \`pipeline\` use the option \`phase\`.
- \`log(value)\`: a line for the person who watches.
- \`args\`: the JSON value of the call, undefined when none was given. Take care of both text and object.
- \`budget\`: \`{ total, spent(), remaining() }\` in output tokens; total is null and remaining() Infinity when there is none. At the limit agent() rejects.
- \`workflow('name' or { scriptPath }, args?)\`: runs another workflow as a function of this one, one level deep.
- \`console.log\`, \`setTimeout\`, \`structuredClone\`, \`URL\`, \`TextEncoder\`, \`atob\` and the language itself. No files, network, clock or chance: agents do what touches the world.

### Rules
- Same inputs, same calls: the script is run again on a resume, and each agent call whose prompt and options are unchanged is answered from the journal. So no \`Date.now()\`, \`new Date()\`, \`Math.random()\` (they are refused): pass such values in args, and tell like agents apart by their index.
- Any number of agents may be asked at once; about 16 run at a time, the rest wait. A run has at most 1,000 agents, a \`parallel\` or \`pipeline\` 4,096 items. Bound every loop.
- Everything is awaited: an agent nobody waits for is cancelled when the script returns.
- Be honest in the result: say what was dropped, cut off or failed, rather than passing over nulls in silence.

### Fan out, then bring together
\`\`\`js
export const meta = {
  name: 'answer-from-angles',
  description: 'Asks several agents from different angles and merges their answers.',
  phases: [{ title: 'Ask' }, { title: 'Merge' }],
}
const question = typeof args === 'string' ? args : (args?.question ?? 'How does this project handle errors?')
const angles = ['what the code does', 'what its tests prove', 'what its documents say']

phase('Ask')
const answers = await parallel(
  angles.map((angle) => () =>
    agent(\`Answer only from \${angle}, naming files: \${question}\`, { label: angle }).then((text) => text && { angle, text }),
  ),
)
const heard = answers.filter(Boolean)
if (heard.length === 0) return { question, answer: null, missing: angles }

phase('Merge')
const answer = await agent(
  \`Merge these answers into one. Where they disagree, say so.\\nQuestion: \${question}\\nAnswers: \${JSON.stringify(heard)}\`,
  { label: 'merge' },
)
return { question, answer, missing: angles.filter((angle) => !heard.some((one) => one.angle === angle)) }
\`\`\`

### Pipeline: each item on its own through the stages
\`\`\`js
export const meta = { name: 'review-files', description: 'Reviews files, and checks each finding on its own.' }
const files = Array.isArray(args?.files) ? args.files : ['README.md', 'package.json']
const FINDINGS = {
  type: 'object',
  required: ['findings'],
  properties: {
    findings: {
      type: 'array',
      maxItems: 10,
      items: {
        type: 'object',
        required: ['title', 'detail'],
        properties: { title: { type: 'string' }, detail: { type: 'string', description: 'What goes wrong, and where' } },
      },
    },
  },
}
const VERDICT = {
  type: 'object',
  required: ['real', 'why'],
  properties: { real: { type: 'boolean' }, why: { type: 'string' } },
}

const reviewed = await pipeline(
  files,
  (file) => agent(\`Read \${file}. Report real defects only.\`, { label: \`review \${file}\`, phase: 'Review', schema: FINDINGS }),
  async (review, file) => {
    const checked = await parallel(
      review.findings.map((finding) => () =>
        agent(\`Try to refute this claim about \${file}, with evidence: \${JSON.stringify(finding)}\`, {
          label: \`check \${finding.title}\`,
          phase: 'Check',
          schema: VERDICT,
        }).then((verdict) => ({ ...finding, file, real: verdict?.real ?? null })),
      ),
    )
    return checked.filter(Boolean)
  },
)
const findings = reviewed.filter(Boolean).flat()
return {
  confirmed: findings.filter((one) => one.real),
  unchecked: findings.filter((one) => one.real === null),
  notReviewed: files.filter((_, i) => !reviewed[i]),
}
\`\`\`

### Loop until nothing new comes
\`\`\`js
export const meta = { name: 'find-all', description: 'Looks for more until two rounds bring nothing new.' }
const what = typeof args === 'string' ? args : (args?.what ?? 'TODO comments that matter')
const LIST = {
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: { type: 'string', description: 'file:line, then what it is' } } },
}
const seen = new Set()
let dry = 0
let round = 0
let lost = 0
while (dry < 2 && round < 6 && budget.remaining() > 20_000) {
  round++
  const found = await parallel(
    [1, 2, 3].map((searcher) => () =>
      agent(
        \`Find \${what}. Searcher \${searcher} of round \${round}: begin where others would not. Known already: \${JSON.stringify([...seen])}\`,
        { label: \`search \${round}.\${searcher}\`, phase: \`Round \${round}\`, schema: LIST },
      ),
    ),
  )
  const heard = found.filter(Boolean)
  lost += found.length - heard.length
  if (heard.length === 0) break // nobody answered, which does not mean that nothing is left
  const before = seen.size
  for (const item of heard.flatMap((one) => one.items)) seen.add(item)
  dry = seen.size === before ? dry + 1 : 0
  log(\`round \${round}: \${seen.size - before} new, \${seen.size} in all\`)
}
return { items: [...seen], rounds: round, complete: dry >= 2, searchersLost: lost }
\`\`\`
`;
