/**
 * A process to be killed: makes or opens a run and stores results 0, 1, 2 … for ever, printing each number once it is
 * durable. First it prints the run id, or the code of the error that kept it from opening the run.
 */
import { argv, stdout } from 'node:process';
import { createRunStore } from '../../cache/run-store.ts';
import type { WorkflowError } from '../../protocol/workflow-error.ts';
import { sampleRecord } from '../unit/cache/sample-record.ts';
import { launchedRow, resultHead, startedRow } from '../unit/cache/sample-rows.ts';

const [, , root = '', runId = ''] = argv;
const store = createRunStore({ root });
const opening =
  runId === ''
    ? store.create({ record: sampleRecord(), scriptText: 'return 1\n', argsJson: undefined })
    : store.open(runId);
const run = await opening.catch((error: WorkflowError) => void stdout.write(`${error.code}\n`));

if (run !== undefined) {
  stdout.write(`${run.runId}\n`);
  const stored = run.history.rows.filter(({ row }) => row.type === 'result').length;
  run.journal.append(launchedRow({ runId: run.runId, launch: run.record.launch }));
  for (let n = stored; ; n += 3) {
    for (const i of [n, n + 1, n + 2]) {
      run.journal.append(startedRow(i));
      run.events.append('log', { level: 'info', text: `agent ${i}` });
      run.journal.appendResult(resultHead(i), String(i));
    }
    await run.journal.durable();
    stdout.write(`${n}\n${n + 1}\n${n + 2}\n`);
  }
}
