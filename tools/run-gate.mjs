/**
 * Runs the gate: every check of the project, in order, and prints `N passed, M failed` alone on the last line.
 *
 *   node tools/run-gate.mjs [step…]        all steps, or those named
 *
 * A step that is not a test suite counts as one check. A red step does not stop the later ones, except that nothing runs
 * on a failed build. What a green check printed is not shown.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = (name) => path.join(root, 'node_modules', '.bin', name);
const node = (...args) => [process.execPath, ...args];
const VITEST_REPORT = path.join(root, 'temp', 'vitest.json');
const CASES_REPORT = path.join(root, 'temp', 'cases.json');

const SOURCES = ['index.ts', 'protocol', 'dsl', 'runtime', 'agents', 'cache', 'emitters', 'cli', 'test', 'bench'];

const STEPS = [
  { name: 'format', what: 'formatting (biome)', commands: [[bin('biome'), 'format', '.']] },
  { name: 'types', what: 'types of the host (tsc)', commands: [[bin('tsc'), '-p', '.']] },
  { name: 'guest-types', what: 'types of the guest, without Node (tsc)', commands: [[bin('tsc'), '-p', 'dsl']] },
  {
    name: 'lint',
    what: 'lint (biome)',
    commands: [[bin('biome'), 'check', '--formatter-enabled=false', '--error-on-warnings', '.']],
  },
  { name: 'promises', what: 'promises and switches (typescript-eslint)', commands: [[bin('eslint'), '.']] },
  {
    name: 'layers',
    what: 'layers (dependency-cruiser)',
    commands: [[bin('depcruise'), '--config', '.dependency-cruiser.cjs', ...SOURCES]],
  },
  {
    name: 'fresh',
    what: 'generated files and snippets are fresh',
    commands: [node('tools/build-prelude.mjs', '--check'), node('tools/sync-snippets.mjs', '--check')],
  },
  { name: 'build', what: 'build and API report (esbuild, api-extractor)', commands: [node('tools/build.mjs')] },
  { name: 'dead-code', what: 'dead code (knip)', commands: [[bin('knip')]] },
  { name: 'package', what: 'package shape (publint, attw)', commands: [node('tools/check-package.mjs')] },
  {
    name: 'tests',
    what: 'tests (vitest)',
    commands: [[bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${VITEST_REPORT}`]],
    live: true,
    count: countTests,
  },
  {
    name: 'cases',
    what: 'cases, scripted and over the fake API',
    commands: [node('tools/run-cases.mjs', '--report', CASES_REPORT)],
    live: true,
    count: countCases,
  },
];

function countTests() {
  const report = JSON.parse(readFileSync(VITEST_REPORT, 'utf8'));
  const brokenFiles = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + brokenFiles.length };
}

function countCases() {
  return JSON.parse(readFileSync(CASES_REPORT, 'utf8'));
}

/** Runs one command; resolves to its exit code and, unless it is shown live, what it printed. */
function run([program, ...args], live) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

async function runStep(step) {
  const from = performance.now();
  if (step.live) console.log(`\n── ${step.what}`);
  let red = false;
  let shown = '';
  for (const command of step.commands) {
    const { code, output } = await run(command, step.live);
    if (code === 0) continue;
    red = true;
    shown += `${output.trimEnd()}\n`;
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(1).padStart(6);
  console.log(`${red ? 'FAIL' : 'ok  '} ${seconds} s  ${step.name}: ${step.what}`);
  if (red && shown.trim()) console.log(shown.replace(/^/gm, '    '));
  return tally(step, red);
}

/** A suite that went red without a failed test (it crashed, or wrote no report) still counts as a failure. */
function tally(step, red) {
  if (!step.count) return red ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
  try {
    const { passed, failed } = step.count();
    return { passed, failed: red && failed === 0 ? 1 : failed };
  } catch (error) {
    console.log(`    no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(`no step ${unknown.join(', ')}; there are ${STEPS.map((step) => step.name).join(', ')}`);
  process.exit(64);
}
mkdirSync(path.join(root, 'temp'), { recursive: true });
for (const report of [VITEST_REPORT, CASES_REPORT]) rmSync(report, { force: true });
let passed = 0;
let failed = 0;
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.includes(step.name)) continue;
  const result = await runStep(step);
  passed += result.passed;
  failed += result.failed;
  if (step.name === 'build' && result.failed > 0) break;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
