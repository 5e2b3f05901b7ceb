import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type ClaudeCall, readClaudeJournal } from '../../cache/claude-journal.ts';
import { shellQuote } from '../../hosts/workflow-tool/shell-quote.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { CliContext } from '../cli-context.ts';

/** A run that Claude Code made. */
export interface ClaudeRun {
  readonly runId: string;
  /** Absolute. */
  readonly journalPath: string;
  readonly calls: readonly ClaudeCall[];
}

/** What such a run executed, as far as its session still holds it. */
export interface ClaudeRunScript {
  readonly text: string;
  /** JSON text. */
  readonly argsJson: string | undefined;
}

type Place = Pick<CliContext, 'env' | 'cwd' | 'homeDirectory'>;

const RUN_ID = /^wf_[a-z0-9-]+$/;

/**
 * Finds a run of Claude Code by its id or by a path: the journal, the folder it is in, or the record
 * `workflows/<runId>.json` of its session. Undefined when there is none.
 */
export async function findClaudeRun(given: string, root: string, place: Place): Promise<ClaudeRun | undefined> {
  for (const journalPath of await journalPaths(given, root, place)) {
    const calls = await readClaudeJournal(journalPath);
    if (calls !== undefined) return { runId: basename(dirname(journalPath)), journalPath, calls };
  }
  return undefined;
}

/** The same, for `--import`, which needs one. @throws USAGE_INVALID, FILE_MISSING */
export async function readClaudeRun(given: string, root: string, place: Place): Promise<ClaudeRun> {
  const run = await findClaudeRun(given, root, place);
  if (run !== undefined) return run;
  const path = resolve(place.cwd, given);
  if (await isThere(path)) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `${given} is no run of Claude Code: it holds no journal.jsonl with v2: keys. Runs of wf go on with wf resume`,
    );
  }
  throw new WorkflowError('FILE_MISSING', `there is no run of Claude Code at ${path}, and none of that id`);
}

/** The one sentence about a run that cannot be resumed as ours. */
export function foreignRunError(run: ClaudeRun, given: string): WorkflowError {
  return new WorkflowError(
    'REPLAY_FOREIGN_RUN',
    `run ${run.runId} was made by Claude Code, whose keys (v2:) name other things than those of wf, so it cannot be resumed; ` +
      `wf resume ${shellQuote(given)} --import starts a new run that takes its recorded answers by the order of the calls`,
    { data: { journal: run.journalPath } },
  );
}

/**
 * Reads script and args of a run from its session: the record, which is written at the end of a run, else the script that
 * was saved at its start.
 *
 * @throws USAGE_INVALID when neither is there
 */
export async function readClaudeScript({ runId, journalPath }: ClaudeRun): Promise<ClaudeRunScript> {
  const workflows = join(dirname(dirname(dirname(dirname(journalPath)))), 'workflows');
  const record = await readRecord(join(workflows, `${runId}.json`));
  if (typeof record?.script === 'string') {
    const { script: text, args } = record;
    return { text, argsJson: args === undefined ? undefined : JSON.stringify(args) };
  }
  const scripts = join(workflows, 'scripts');
  const name = (await readdir(scripts).catch(() => [])).find((file) => file.endsWith(`${runId}.js`));
  if (name !== undefined) return { text: await readFile(join(scripts, name), 'utf8'), argsJson: undefined };
  throw new WorkflowError(
    'USAGE_INVALID',
    `the script of ${runId} is not beside its journal any more; name it: wf run <script> --import ${shellQuote(journalPath)}`,
  );
}

/** Says before the run what an import can and cannot do. */
export function importNotice({ runId, calls }: ClaudeRun): string {
  const answered = calls.filter((call) => call.resultJson !== undefined).length;
  return (
    `${answered} answers of ${calls.length} calls are imported from ${runId}: each call takes the answer that stands in its ` +
    'place in the record, whatever it asks, so script and args should be those of that run'
  );
}

async function journalPaths(given: string, root: string, place: Place): Promise<readonly string[]> {
  const path = resolve(place.cwd, given);
  const record = /^(.*)[\\/]workflows[\\/]([^\\/]+)\.json$/.exec(path);
  const paths = [path, join(path, 'journal.jsonl')];
  if (record !== null) paths.push(join(record[1] ?? '', 'subagents/workflows', record[2] ?? '', 'journal.jsonl'));
  if (!RUN_ID.test(given)) return paths;
  return [...paths, join(root, 'runs', given, 'journal.jsonl'), ...(await journalsOfSessions(given, place))];
}

async function journalsOfSessions(runId: string, { env, homeDirectory }: Place): Promise<readonly string[]> {
  const projects = join(env['CLAUDE_CONFIG_DIR'] || join(homeDirectory, '.claude'), 'projects');
  const found: string[] = [];
  for (const project of await namesIn(projects)) {
    for (const session of await namesIn(join(projects, project))) {
      const path = join(projects, project, session, 'subagents/workflows', runId, 'journal.jsonl');
      if (await isThere(path)) found.push(path);
    }
  }
  return found;
}

/** Names of the folders in a folder; none when it is not there. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function readRecord(path: string): Promise<{ readonly script?: unknown; readonly args?: unknown } | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
