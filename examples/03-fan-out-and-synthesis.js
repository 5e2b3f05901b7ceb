export const meta = {
  name: 'fan-out-and-synthesis',
  description: 'Looks at one question from several sides at once, then writes one answer.',
  phases: [{ title: 'Angles' }, { title: 'Synthesis' }],
}

const question = args?.question ?? 'Should a small team run its own mail server?'
const angles = ['security', 'cost', 'reliability', 'time to maintain']

phase('Angles')
const views = await parallel(
  angles.map((angle) => () => agent(`In three sentences, only from the angle of ${angle}: ${question}`, { label: angle })),
)
const usable = views.filter((view) => view !== null) // an agent that died is null
if (usable.length === 0) throw new Error('no agent answered')

phase('Synthesis')
const answer = await agent(
  `Answer the question "${question}" from these views:\n\n${usable.map((view, i) => `${i + 1}. ${view}`).join('\n')}`,
  { label: 'synthesis' },
)
return { question, views: usable.length, answer }
