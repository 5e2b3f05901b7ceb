/**
 * Runs the cases of test/cases against the built `wf`, first with the scripted backend, then over HTTP with the fake API.
 *
 *   node tools/run-cases.mjs [--backend scripted|anthropic] [--grep RE] [--planned] [--report FILE] [option of run-cases…]
 *
 * Cases of test/cases/planned.json belong to later work and are left out; `--planned` runs those alone and asks to take
 * the ones that pass off the list. The last line is `N passed, M failed`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const casesFolder = path.join(root, 'test', 'cases');
const planned = JSON.parse(readFileSync(path.join(casesFolder, 'planned.json'), 'utf8'));

const { values } = parseArgs({
  options: {
    backend: { type: 'string' },
    grep: { type: 'string' },
    planned: { type: 'boolean', default: false },
    report: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    slow: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});

/** Files are named one by one, so that planned cases are not even started. */
function caseFiles() {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [path.join(root, 'test/support/run-cases.mjs'), '--list'],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(stderr);
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]);
  return ids.filter((id) => planned.includes(id) === values.planned).map((id) => path.join(casesFolder, `${id}.json`));
}

/** One pass over the cases; its lines go to stderr as they come, its report to stdout. */
function runBackend(backend, files) {
  console.error(`── ${files.length} cases, ${backend}`);
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'wf-cases-'));
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'test/support/run-cases.mjs'),
      ...files,
      ...['--backend', backend, '--jobs', values.jobs, '--slow', values.slow, '--json'],
      ...(values.grep ? ['--grep', values.grep] : []),
      ...(values.keep ? ['--keep'] : []),
    ],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, TMPDIR: scratch, WF_BIN: `${process.execPath} ${path.join(root, 'bin/wf.mjs')}` },
    },
  );
  if (!values.keep) rmSync(scratch, { recursive: true, force: true });
  if (status === 2 || !stdout.trim()) return { passed: 0, failed: 1, cases: [] };
  return JSON.parse(stdout);
}

const files = caseFiles();
const reports = (values.backend ? [values.backend] : ['scripted', 'anthropic']).map((backend) => ({
  backend,
  ...runBackend(backend, files),
}));
const passed = reports.reduce((sum, report) => sum + report.passed, 0);
const failed = reports.reduce((sum, report) => sum + report.failed, 0);
if (values.report) writeFileSync(values.report, JSON.stringify({ passed, failed }));

for (const { backend, cases } of reports) {
  const red = cases.filter((result) => result.ok === false).map((result) => result.id);
  if (red.length > 0) console.error(`${values.planned ? 'still to come' : 'red'} with ${backend}: ${red.join(' ')}`);
  const slow = cases
    .filter((result) => result.ms > 5_000)
    .map((result) => `${result.id} (${Math.round(result.ms / 1000)} s)`);
  if (slow.length > 0) console.error(`slow with ${backend}: ${slow.join(', ')}`);
}
if (values.planned) {
  const isGreen = (id) => reports.every(({ cases }) => cases.find((result) => result.id === id)?.ok !== false);
  const ran = new Set(
    reports.flatMap(({ cases }) => cases.filter((result) => !result.skipped).map((result) => result.id)),
  );
  const green = [...ran].filter(isGreen);
  if (green.length > 0) console.error(`pass already, take them off test/cases/planned.json: ${green.join(' ')}`);
  process.exitCode = green.length > 0 ? 1 : 0;
} else {
  process.exitCode = failed > 0 ? 1 : 0;
}
console.log(`${passed} passed, ${failed} failed`);
