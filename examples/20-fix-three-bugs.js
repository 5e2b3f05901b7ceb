export const meta = {
  name: 'fix-three-bugs',
  description: 'Looks for a bug in each area, fixes each in a worktree of its own, and has two sceptics look at every fix.',
  whenToUse: 'In a git repository with tests. Agents need Edit, and Bash for the tests and for git add, commit and diff.',
  phases: [{ title: 'Find' }, { title: 'Fix' }, { title: 'Review' }],
}

const { areas = ['.'], test = 'npm test' } = args ?? {}

const BUG = {
  type: 'object',
  properties: {
    found: { type: 'boolean' },
    file: { type: 'string' },
    what: { type: 'string', description: 'what is wrong, and for which input' },
  },
  required: ['found', 'file', 'what'],
}
const FIX = {
  type: 'object',
  properties: {
    branch: { type: 'string', minLength: 1, description: 'the branch of your worktree' },
    testsPass: { type: 'boolean' },
    change: { type: 'string' },
  },
  required: ['branch', 'testsPass', 'change'],
}
const VERDICT = {
  type: 'object',
  properties: { sound: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['sound', 'reason'],
}
const SCEPTICS = ['whether it mends the cause and not a symptom', 'what it breaks that worked before']

const reports = await pipeline(
  areas,
  (area) => agent(`Find one real bug in ${area}. Read the code; name an input that gives a wrong result.`, {
    label: `find in ${area}`,
    phase: 'Find',
    agentType: 'Explore',
    schema: BUG,
  }),
  async (bug, area) => {
    if (!bug.found) return { area, merge: false, why: 'no bug was found' }
    const fix = await agent(
      `Fix this bug in ${bug.file}: ${bug.what}\nRun \`${test}\`, then commit your change with git.`,
      { label: `fix ${bug.file}`, phase: 'Fix', isolation: 'worktree', schema: FIX },
    )
    if (fix === null) return { area, bug, merge: false, why: 'the agent that should fix it died' }
    if (!fix.testsPass) return { area, bug, branch: fix.branch, merge: false, why: 'its tests fail' }
    const verdicts = await parallel(
      SCEPTICS.map((question) => () =>
        agent(
          `Doubt this fix on the branch ${fix.branch}: ${fix.change}\nThe bug was: ${bug.what}\n` +
            `Look at it with \`git diff HEAD...${fix.branch}\` and find out ${question}.`,
          { label: `doubt ${bug.file}: ${question}`, phase: 'Review', schema: VERDICT },
        ),
      ),
    )
    const against = verdicts.filter((verdict) => verdict !== null && !verdict.sound)
    const missing = verdicts.filter((verdict) => verdict === null).length
    const why = against[0]?.reason ?? (missing > 0 ? `${missing} of ${SCEPTICS.length} sceptics died` : 'both sceptics find it sound')
    return { area, bug, branch: fix.branch, merge: against.length === 0 && missing === 0, why }
  },
)

const known = reports.map((report, i) => report ?? { area: areas[i], merge: false, why: 'the agent that should look died' })
const merge = known.filter((report) => report.merge).map((report) => report.branch)
log(`${merge.length} of ${areas.length} areas have a fix to merge`)
return {
  merge,
  leave: known.filter((report) => !report.merge).map(({ area, branch, why }) => ({ area, ...(branch && { branch }), why })),
}
