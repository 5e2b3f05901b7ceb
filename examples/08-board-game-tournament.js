export const meta = {
  name: 'board-game-tournament',
  description: 'Five inventors pitch a board game, three judges score each pitch, one editor writes up the winner.',
  phases: [{ title: 'Invent' }, { title: 'Judge' }, { title: 'Write up' }],
}

const CONCEPT = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 2 },
    pitch: { type: 'string', minLength: 20 },
    players: { type: 'integer', minimum: 1, maximum: 8 },
  },
  required: ['title', 'pitch', 'players'],
}
const VOTE = {
  type: 'object',
  properties: { score: { type: 'number', minimum: 1, maximum: 10 }, reason: { type: 'string' } },
  required: ['score', 'reason'],
}

const themes = ['lighthouses', 'slow trains', 'a library at night', 'rooftop gardens', 'lost luggage']
const judges = ['a ten-year-old', 'a games critic', 'a parent with twenty minutes']

const entries = await pipeline(
  themes,
  (theme) => agent(`Invent a board game about ${theme}.`, { label: `inventor: ${theme}`, phase: 'Invent', schema: CONCEPT }),
  async (concept, theme) => {
    const votes = await parallel(
      judges.map((judge) => () =>
        agent(`You are ${judge}. Score this board game from 1 to 10.\n${JSON.stringify(concept)}`, {
          label: `${judge} on ${theme}`,
          phase: 'Judge',
          schema: VOTE,
        }),
      ),
    )
    const cast = votes.filter((vote) => vote !== null) // a judge who failed has no vote
    if (cast.length < judges.length) log(`${theme}: only ${cast.length} of ${judges.length} judges voted`)
    const average = cast.length === 0 ? 0 : cast.reduce((sum, vote) => sum + vote.score, 0) / cast.length
    return { theme, concept, votes: cast.length, average: Math.round(average * 100) / 100 }
  },
)

const ranking = entries.filter((entry) => entry !== null && entry.votes > 0).sort((a, b) => b.average - a.average)
if (ranking.length === 0) throw new Error('no concept got a vote')
if (ranking.length < themes.length) log(`${themes.length - ranking.length} of ${themes.length} concepts could not be judged`)

phase('Write up')
const article = await agent(
  `Write one paragraph on the winner of a board game tournament and why it won:\n${JSON.stringify(ranking[0])}`,
  { label: 'editor' },
)

if (article === null) log('the editor died, so the winner has no article')
if (ranking.some((entry, i) => i > 0 && entry.average > ranking[i - 1].average)) throw new Error('the ranking is not sorted')
return { winner: ranking[0].concept.title, article, ranking: ranking.map(({ theme, average, votes }) => ({ theme, average, votes })) }
