/**
 * Lets two processes resume one killed run at the same moment, many times: exactly one may win.
 *
 *   node test/kill/contend.ts [--rounds 100]
 */
import { parseArgs } from 'node:util';
import { contest } from '../support/kill-contest.ts';
import { copyBuiltWf } from '../support/kill-process.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
const rounds = Number(values.rounds);
const wf = copyBuiltWf();
let troubled = 0;
try {
  for (let round = 1; round <= rounds; round += 1) {
    const { troubles } = await contest(wf.program);
    for (const trouble of troubles) console.log(`round ${round}: ${trouble}`);
    troubled += troubles.length > 0 ? 1 : 0;
    if (round % 25 === 0) console.log(`${round} of ${rounds}`);
  }
} finally {
  wf.remove();
}
console.log(JSON.stringify({ rounds, oneWinner: rounds - troubled, troubled }));
process.exitCode = troubled === 0 ? 0 : 1;
