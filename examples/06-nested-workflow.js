export const meta = {
  name: 'nested-workflow',
  description: 'Calls another workflow as a function: same limits, same journal, its own phase.',
}

const summaries = []
for (const subject of ['compilers', 'databases']) {
  summaries.push(await workflow({ scriptPath: 'lib/summarise.js' }, { subject }))
}
if (summaries.length !== 2 || summaries.some((summary) => !summary.subject)) throw new Error('expected two summaries')
return summaries
