/**
 * Runs the gate: every check of the project, in order, and prints `N passed, M failed` alone on the last line.
 *
 *   node tools/run-gate.mjs [step…] [--root FOLDER]     all steps, or those named
 *
 * A step that is not a test suite counts as one check. Those that only read the sources come first, two at a time. A red
 * step does not stop the later ones, except that nothing runs on a failed build. What a green check printed is not shown.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { gateSteps, SUITE_REPORTS } from './gate-steps.ts';

const { values, positionals: wanted } = parseArgs({ allowPositionals: true, options: { root: { type: 'string' } } });
const root = path.resolve(values.root ?? path.dirname(path.dirname(fileURLToPath(import.meta.url))));

const COUNTS = {
  vitest: (report) => {
    const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
  },
  cases: (report) => report,
};

/** Runs one command; resolves to its exit code and, unless it is shown live, what it printed. */
function run([program, ...args], live) {
  return new Promise((resolve) => {
    const out = live ? 'inherit' : 'pipe';
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', out, out] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

async function runStep(step) {
  const from = performance.now();
  if (step.suite) console.log(`\n── ${step.what}`);
  let red = false;
  let shown = '';
  for (const command of step.commands) {
    const { code, output } = await run(command, step.suite !== undefined);
    if (code === 0) continue;
    red = true;
    shown += `${output.trimEnd()}\n`;
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(1).padStart(6);
  console.log(`${red ? 'FAIL' : 'ok  '} ${seconds} s  ${step.name}: ${step.what}`);
  if (shown.trim()) console.log(shown.replace(/^/gm, '    '));
  return tally(step, red);
}

/** A suite that went red without a failed test (it crashed, or wrote no report) still counts as a failure. */
function tally(step, red) {
  if (!step.suite) return red ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
  try {
    const report = JSON.parse(readFileSync(path.join(root, SUITE_REPORTS[step.suite]), 'utf8'));
    const { passed, failed } = COUNTS[step.suite](report);
    return { passed, failed: red && failed === 0 ? 1 : failed };
  } catch (error) {
    console.log(`    no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}

const steps = gateSteps(root);
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`no step ${unknown.join(', ')}; there are ${steps.map((step) => step.name).join(', ')}`);
  process.exit(64);
}
mkdirSync(path.join(root, 'temp'), { recursive: true });
for (const report of Object.values(SUITE_REPORTS)) rmSync(path.join(root, report), { force: true });
const total = { passed: 0, failed: 0 };
const chosen = steps.filter((step) => wanted.length === 0 || wanted.includes(step.name));
const count = ({ passed, failed }) => {
  total.passed += passed;
  total.failed += failed;
  return failed === 0;
};
const atOnce = pLimit(2);
await Promise.all(
  chosen.filter((step) => step.readsOnly).map((step) => atOnce(async () => count(await runStep(step)))),
);
for (const step of chosen.filter((each) => !each.readsOnly)) {
  const green = count(await runStep(step));
  if (step.name === 'build' && !green) break;
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
