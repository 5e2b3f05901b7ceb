export const meta = {
  name: 'budget',
  description: 'Spends what it was given and no more: run it with --budget 300.',
}

const found = []
for (let n = 1; n <= 50; n++) {
  if (budget.remaining() < 100) {
    log(`stopping with ${budget.remaining()} tokens left`)
    break
  }
  try {
    found.push(await agent(`Give tip number ${n} for writing clear error messages.`, { label: `tip ${n}` }))
  } catch (error) {
    if (error.code !== 'LIMIT_BUDGET') throw error
    log('the budget is spent')
    break
  }
}
if (budget.total !== null && found.length === 50) throw new Error('the budget should have ended the loop')
return { tips: found.length, spent: budget.spent() }
