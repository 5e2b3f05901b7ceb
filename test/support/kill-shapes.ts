/** Shapes of scripts with 60 agents. Several calls of each have the same prompt, so that answers could be swapped. */
export type KillShape = keyof typeof BODIES;

export const AGENTS_A_RUN = 60;

/** Each call has a slot of its own, and says which answer it got as soon as it has it. */
const HEAD = `export const meta = { name: 'kill', description: 'is killed and resumed' }
const got = {}
async function ask(slot, prompt) {
  const answer = String(await agent(prompt, { label: slot }))
  got[slot] = { prompt, answer: answer.slice(0, 60) }
  log('GOT ' + JSON.stringify({ slot, ...got[slot] }))
  return answer.slice(0, 60)
}
const upTo = (count) => Array.from({ length: count }, (_, i) => i)
`;

const BODIES = {
  /** 20 items through three stages; the last stage asks the same of all. */
  pipeline: `await pipeline(upTo(20),
  (i) => ask('a' + i, 'draft ' + i),
  (draft, i) => ask('b' + i, 'improve ' + i + ': ' + draft),
  (better, i) => ask('c' + i, 'judge'))`,
  /** One wide fan-out. */
  parallel: `await parallel(upTo(60).map((i) => () => ask('a' + i, i % 4 === 3 ? 'again' : 'part ' + i)))`,
  /** One after another. */
  loop: `for (const i of upTo(60)) await ask('a' + i, i % 3 === 2 ? 'next' : 'step ' + i)`,
  /** Plain promises below a helper, with equal prompts after awaits. */
  nested: `await Promise.all(upTo(6).map(async (group) => {
  const plan = await ask('g' + group, 'plan ' + group)
  await parallel(upTo(3).map((i) => async () => {
    const found = await ask('g' + group + 'i' + i, 'look ' + group + '/' + i + ': ' + plan)
    await Promise.all(upTo(2).map((n) => ask('g' + group + 'i' + i + 'n' + n, 'verify')))
  }))
}))`,
} as const;

export const KILL_SHAPES = Object.keys(BODIES) as KillShape[];

export function killScript(shape: KillShape): string {
  return `${HEAD}${BODIES[shape]}\nreturn got\n`;
}
