export const meta = {
  name: 'loop-until-dry',
  description: 'Asks again until nothing new comes, with a bound on the rounds.',
}

const IDEAS = { type: 'object', properties: { ideas: { type: 'array', items: { type: 'string' }, maxItems: 5 } }, required: ['ideas'] }
const MOST_ROUNDS = 4

const seen = new Set()
let rounds = 0
while (rounds < MOST_ROUNDS) {
  rounds += 1
  const known = [...seen].map((idea) => `- ${idea}`).join('\n') || '(none yet)'
  const answer = await agent(`Round ${rounds}. Give up to five ways to make a test suite faster that are not in this list:\n${known}`, {
    label: `round ${rounds}`,
    schema: IDEAS,
  })
  const fresh = (answer?.ideas ?? []).filter((idea) => !seen.has(idea))
  for (const idea of fresh) seen.add(idea)
  log(`round ${rounds}: ${fresh.length} new`)
  if (fresh.length === 0) break
}
if (rounds > MOST_ROUNDS) throw new Error('the loop must be bounded')
return { rounds, ideas: [...seen] }
