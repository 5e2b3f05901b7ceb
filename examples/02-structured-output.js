export const meta = {
  name: 'structured-output',
  description: 'Gets data instead of prose: the answer must fit a JSON Schema.',
}

const RISK = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 3 },
    severity: { enum: ['low', 'medium', 'high'] },
    score: { type: 'integer', minimum: 1, maximum: 10 },
  },
  required: ['title', 'severity', 'score'],
}

const risk = await agent('Name the biggest risk of deploying on a Friday afternoon.', { label: 'risk', schema: RISK })
if (risk === null) throw new Error('the agent died, so there is no risk to report') // its reason is in the log
if (!['low', 'medium', 'high'].includes(risk.severity)) throw new Error(`unexpected severity ${risk.severity}`)
if (risk.score < 1 || risk.score > 10) throw new Error(`score ${risk.score} is out of bounds`)
return risk
