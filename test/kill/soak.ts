/**
 * Many agents in many runs at once, all in one process: memory has to be flat, and descriptors and timers back at the start.
 * Prints what the process held before, at its most, and after, and how long the resume of a finished run takes.
 *
 *   node --expose-gc test/kill/soak.ts [--runs 10] [--agents 10000] [--rounds 2]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Holdings, holdings, resumeFinished, soak } from '../support/kill-soak.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    agents: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '2' },
  },
});
const runs = Number(values.runs);
const agentsARun = Number(values.agents);
const root = mkdtempSync(join(tmpdir(), 'wf-soak-'));

function show(what: string, { heapMb, rssMb, descriptors, resources }: Holdings): void {
  const numbers = `heap ${heapMb.toFixed(1)} MB, rss ${rssMb.toFixed(0)} MB, ${descriptors} descriptors`;
  console.log(`${what}: ${numbers}, active: ${resources.join(' ') || 'nothing'}`);
}

try {
  // Code that is loaded and compiled once is no leak.
  await soak({ root, runs, agentsARun: 100 });
  const before = await holdings();
  show('before', before);
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, process.memoryUsage().heapUsed / 2 ** 20);
  }, 50).unref();
  let after = before;
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const from = performance.now();
    const [first] = await soak({ root, runs, agentsARun });
    const wallMs = performance.now() - from;
    after = await holdings();
    show(`round ${round}, ${runs * agentsARun} agents in ${(wallMs / 1000).toFixed(1)} s`, after);
    const resumeMs = await resumeFinished(root, first?.runId ?? '', agentsARun);
    console.log(`resume of ${agentsARun} finished calls: ${Math.round(resumeMs)} ms with the start of its sandbox`);
  }
  clearInterval(watch);
  after = await holdings();
  show('after', after);
  console.log(`heap at its most, garbage included: ${peakMb.toFixed(0)} MB`);
  const back = after.descriptors === before.descriptors && after.resources.join() === before.resources.join();
  const grown = after.heapMb - before.heapMb;
  console.log(JSON.stringify({ back, heapGrownMb: Number(grown.toFixed(1)) }));
  process.exitCode = back && grown < 5 ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
