/**
 * Starts many runs of 60 agents, kills each with SIGKILL at random moments, resumes it to its end, and counts what may not
 * happen. Prints a line for each trouble, and the totals as JSON. Exit code 1 when a zero is none.
 *
 *   node test/kill/kill-runs.ts [--runs 300] [--seed N] [--at-once 2]
 *
 * A trial alone again: --runs 1 --seed <its seed>. Its kills come at the same points, as far as timing allows.
 */
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { copyBuiltWf } from '../support/kill-process.ts';
import { totalsOf, troublesOf } from '../support/kill-totals.ts';
import { killTrial } from '../support/kill-trial.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    'at-once': { type: 'string', default: '2' },
  },
});
const runs = Number(values.runs);
const firstSeed = Number(values.seed);
console.log(`${runs} runs, seeds ${firstSeed} to ${firstSeed + runs - 1}`);

const wf = copyBuiltWf();
const limit = pLimit(Number(values['at-once']));
let done = 0;
try {
  const trials = await Promise.all(
    Array.from({ length: runs }, (_, index) =>
      limit(async () => {
        const trial = await killTrial(wf.program, firstSeed + index);
        for (const trouble of troublesOf(trial)) console.log(trouble);
        done += 1;
        if (done % 25 === 0) console.log(`${done} of ${runs}`);
        return trial;
      }),
    ),
  );
  const totals = totalsOf(trials);
  console.log(JSON.stringify(totals, null, 2));
  const allZero = Object.values(totals.zeros).every((count) => count === 0) && totals.wrongSharedOwners === 0;
  process.exitCode = allZero ? 0 : 1;
} finally {
  wf.remove();
}
