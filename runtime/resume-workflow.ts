import type { RunRecord } from '../protocol/run-record.ts';
import { loadNamedSchemas, type NamedSchemas } from './calls/named-schemas.ts';
import type { RunDirectory } from './ports.ts';
import { describeRun, effectiveConcurrency, parseAuthorScript, prepareRun } from './prepare-run.ts';
import { refuseLostJournal } from './replay/lost-journal.ts';
import { PrefixReplay } from './replay/prefix-replay.ts';
import { ReplayIndex } from './replay/replay-index.ts';
import { launchRun } from './run.ts';
import type { ResumeOptions, RunHandle } from './run-options.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { spawnSandbox } from './sandbox/spawn-sandbox.ts';
import type { ParsedScript } from './script/parse-script.ts';
import { systemClock } from './system-clock.ts';

/**
 * Runs a stored run's script again: each call with a stored result gets it at once, every other call runs.
 *
 * Contract: the script is checked before anything of the stored run is touched.
 *
 * @throws WorkflowError `REPLAY_…`, `SCRIPT_…`, `USAGE_INVALID`, `STATE_UNWRITABLE`; nothing has been paid then
 */
export async function resumeWorkflow(given: ResumeOptions): Promise<RunHandle> {
  const sandbox = given.sandbox ?? spawnSandbox();
  const options = { ...given, sandbox };
  try {
    effectiveConcurrency(options);
    const schemas = await loadNamedSchemas(options.schemas);
    const edited = options.script === undefined ? undefined : parseAuthorScript({ ...options, script: options.script });
    const directory = await options.store.open(options.runId, {
      salvage: options.salvage ?? false,
      takeOver: options.takeOver ?? false,
    });
    try {
      return await relaunch(options, directory, edited ?? parseStored(directory), schemas);
    } catch (error) {
      await directory.close();
      throw error;
    }
  } catch (error) {
    sandbox.kill();
    throw error;
  }
}

function parseStored({ scriptText, record }: RunDirectory): ParsedScript {
  return parseAuthorScript({ script: scriptText, fileName: record.scriptFileName });
}

async function relaunch(
  options: ResumeOptions & { readonly sandbox: Sandbox },
  directory: RunDirectory,
  script: ParsedScript,
  schemas: NamedSchemas,
): Promise<RunHandle> {
  const notice = options.onNotice ?? (() => {});
  refuseLostJournal(directory, options.salvage ?? false);
  for (const warning of directory.history.warnings) notice(warning);
  const argsJson = options.argsJson ?? directory.argsJson;
  const before = directory.record;
  const record = relaunched(options, before, script, argsJson);
  const scriptChanged = record.scriptSha256 !== before.scriptSha256;
  const argsChanged = record.argsSha256 !== before.argsSha256;
  if (argsChanged) {
    notice(
      'The args differ from those of the last launch and replace them; calls whose prompts they change run again.',
    );
  }
  if (scriptChanged)
    notice(
      'The script was edited since the last launch; calls whose content is new run, the rest are answered from the journal.',
    );
  const index = new ReplayIndex(directory.history.rows, record);
  const replay =
    options.resumePolicy === 'prefix' ? new PrefixReplay(index, (finished) => notice(prefixNotice(finished))) : index;
  if (scriptChanged) await directory.saveScript(script.source);
  if (argsChanged) await directory.saveArgs(argsJson);
  await directory.saveRecord(record);
  void options.worktrees?.sweep({ runId: directory.runId, cwd: record.cwd });
  const onNewContent =
    scriptChanged || argsChanged ? once((label) => notice(`The first call that is new: "${label}".`)) : undefined;
  return launchRun(prepareRun(options, directory, script, argsJson, replay, schemas, onNewContent));
}

function relaunched(
  options: ResumeOptions,
  before: RunRecord,
  script: ParsedScript,
  argsJson: string | undefined,
): RunRecord {
  const { finishedAt: _finishedAt, error: _error, census: _census, usage: _usage, ...kept } = before;
  return {
    ...kept,
    ...describeRun(options, script, argsJson),
    launch: before.launch + 1,
    updatedAt: (options.clock ?? systemClock).now(),
    cwd: options.cwd ?? before.cwd,
    ...(options.scriptPath === undefined ? {} : { scriptPath: options.scriptPath }),
    options: { ...before.options, ...options.storedOptions },
  };
}

function prefixNotice(finished: number): string {
  const calls = finished === 1 ? '1 finished call' : `${finished} finished calls`;
  return `A call without a result was reached, and --resume-policy prefix runs it and all later ones: ${calls} will run again.`;
}

function once(tell: (label: string) => void): (label: string) => void {
  let told = false;
  return (label) => {
    if (told) return;
    told = true;
    tell(label);
  };
}
