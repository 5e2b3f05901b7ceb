export const meta = {
  name: 'hello',
  description: 'Asks one agent one question.',
}

const greeting = await agent('Greet the world in one short sentence.', { label: 'greeter' })
if (typeof greeting !== 'string' || greeting === '') throw new Error('expected a greeting')
return greeting
