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
    file: { type: 'string', description: 'its path, as git names it' },
    what: { type: 'string', description: 'what is wrong, and for which input' },
  },
  required: ['found', 'file', 'what'],
}
const FIX = {
  type: 'object',
  properties: {
    branch: { type: 'string', pattern: '^wf/wf_[0-9a-f]{8}-[0-9a-f]{3}-[0-9]+$', description: 'the branch of your worktree' },
    testsPass: { type: 'boolean' },
    change: { type: 'string' },
  },
  required: ['branch', 'testsPass', 'change'],
}
const VERDICT = {
  type: 'object',
  properties: {
    changedFiles: { type: 'array', items: { type: 'string' }, description: 'what git diff --name-only prints; empty when it prints nothing' },
    sound: { type: 'boolean' },
    reason: { type: 'string' },
  },
  required: ['changedFiles', 'sound', 'reason'],
}
const SCEPTICS = ['whether it mends the cause and not a symptom', 'what it breaks that worked before']

/**
 * Why a fix is not to be merged; undefined when it is. An agent's word for its own work is not enough: what the branch changes
 * is asked of two agents that did not make it, and compared here with what should have changed.
 */
function objection(bug, verdicts) {
  const heard = verdicts.filter(Boolean)
  if (heard.length < SCEPTICS.length) return `${SCEPTICS.length - heard.length} of ${SCEPTICS.length} sceptics died`
  const doubt = heard.find((verdict) => !verdict.sound)
  if (doubt) return doubt.reason
  const seen = heard.map(({ changedFiles }) => [...new Set(changedFiles)].sort().join(', '))
  if (seen.some((files) => files === '')) return 'a sceptic found no change on its branch'
  if (new Set(seen).size > 1) return `the sceptics saw different changes: ${seen.join(' / ')}`
  if (!heard[0].changedFiles.includes(bug.file)) return `its branch changes ${seen[0]}, and not ${bug.file}`
}

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
            `Look at it with \`git diff --name-only HEAD...${fix.branch}\` and \`git diff HEAD...${fix.branch}\`, and find out ${question}.`,
          { label: `doubt ${bug.file}: ${question}`, phase: 'Review', schema: VERDICT },
        ),
      ),
    )
    const why = objection(bug, verdicts)
    return { area, bug, branch: fix.branch, merge: why === undefined, why: why ?? 'both sceptics find it sound' }
  },
)

const known = reports.map((report, i) => report ?? { area: areas[i], merge: false, why: 'the agent that should look died' })
const merge = [...new Set(known.filter((report) => report.merge).map((report) => report.branch))]
const count = (fits) => known.filter(fits).length
log(
  `${areas.length} areas: ${count(({ bug }) => bug)} bugs found, ${count(({ branch }) => branch)} fixes tried, ${merge.length} of them to merge; each of the others says why not`,
)
return {
  merge,
  leave: known.filter((report) => !report.merge).map(({ area, branch, why }) => ({ area, ...(branch && { branch }), why })),
}
