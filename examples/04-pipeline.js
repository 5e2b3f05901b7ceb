export const meta = {
  name: 'pipeline',
  description: 'Takes each item through its stages on its own: no item waits for another.',
  phases: [{ title: 'Draft' }, { title: 'Review' }],
}

const NOTE = { type: 'object', properties: { title: { type: 'string' }, text: { type: 'string' } }, required: ['title', 'text'] }
const REVIEW = { type: 'object', properties: { good: { type: 'boolean' }, reason: { type: 'string' } }, required: ['good', 'reason'] }

const topics = ['caching', 'retries', 'timeouts', 'backpressure']
const notes = await pipeline(
  topics,
  (topic) => agent(`Write a short note about ${topic} in distributed systems.`, { label: `draft ${topic}`, phase: 'Draft', schema: NOTE }),
  async (note, topic) => {
    const review = await agent(`Is this note about ${topic} right and clear?\n${JSON.stringify(note)}`, {
      label: `review ${topic}`,
      phase: 'Review',
      schema: REVIEW,
    })
    return review === null ? null : { topic, ...note, ...review }
  },
)

const kept = notes.filter(Boolean)
if (kept.length < topics.length) log(`${topics.length - kept.length} of ${topics.length} notes were lost on the way`)
if (kept.some((note, i) => i > 0 && topics.indexOf(note.topic) < topics.indexOf(kept[i - 1].topic))) {
  throw new Error('results must keep the order of the items')
}
return kept
