import { loadNamedSchemas } from './calls/named-schemas.ts';
import { describeRun, effectiveConcurrency, parseAuthorScript, prepareRun } from './prepare-run.ts';
import { ReplayIndex } from './replay/replay-index.ts';
import { launchRun } from './run.ts';
import type { RunHandle, StartOptions } from './run-options.ts';
import { spawnSandbox } from './sandbox/spawn-sandbox.ts';
import { systemClock } from './system-clock.ts';

/**
 * Starts a new run and returns as soon as it is under way.
 *
 * @throws WorkflowError `SCRIPT_…` when the script is invalid, `USAGE_INVALID`, `STATE_UNWRITABLE`; nothing has been paid then
 */
export async function startWorkflow(given: StartOptions): Promise<RunHandle> {
  // The process takes the longest to be ready, so it is the first thing to start.
  const sandbox = given.sandbox ?? spawnSandbox();
  const options = { ...given, sandbox };
  try {
    const script = parseAuthorScript(options);
    effectiveConcurrency(options);
    const schemas = await loadNamedSchemas(options.schemas);
    const now = (options.clock ?? systemClock).now();
    const directory = await options.store.create({
      record: {
        v: 1,
        ...describeRun(options, script, options.argsJson),
        launch: 1,
        createdAt: now,
        updatedAt: now,
        cwd: options.cwd ?? process.cwd(),
        ...(options.scriptPath === undefined ? {} : { scriptPath: options.scriptPath }),
        options: { ...options.storedOptions },
      },
      scriptText: script.source,
      argsJson: options.argsJson,
    });
    return launchRun(prepareRun(options, directory, script, options.argsJson, new ReplayIndex(), schemas));
  } catch (error) {
    sandbox.kill();
    throw error;
  }
}
