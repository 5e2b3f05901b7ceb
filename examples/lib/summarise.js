export const meta = {
  name: 'summarise',
  description: 'Collects facts about a subject and sums them up.',
}

const facts = await parallel([1, 2].map((n) => () => agent(`State fact number ${n} about ${args.subject}.`, { label: `${args.subject} ${n}` })))
const summary = await agent(`Sum up: ${facts.filter(Boolean).join(' ')}`, { label: `${args.subject} summary` })
return { subject: args.subject, summary }
