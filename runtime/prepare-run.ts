import { hash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { JOURNAL_VERSION } from '../protocol/journal-version.ts';
import type { RunRecord } from '../protocol/run-record.ts';
import { WorkflowError } from '../protocol/workflow-error.ts';
import type { NamedSchemas } from './calls/named-schemas.ts';
import { openCostMeter } from './costs/open-cost-meter.ts';
import type { RunDirectory } from './ports.ts';
import { createRedactor } from './redact.ts';
import type { Replay } from './replay/replay-index.ts';
import type { PreparedRun } from './run.ts';
import { DEFAULT_LIMITS, type RunLimits, type StartOptions, type WorkflowOptions } from './run-options.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { type ParsedScript, parseScript } from './script/parse-script.ts';
import { WF_VERSION } from './version.ts';

/** Hex SHA-256 of a text; how scripts and args are compared over launches. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Null when there are none. */
export function argsHash(argsJson: string | undefined): string | null {
  return argsJson === undefined ? null : sha256(argsJson);
}

export function parseAuthorScript({
  script,
  fileName,
  scriptPath,
}: Pick<StartOptions, 'script' | 'fileName' | 'scriptPath'>): ParsedScript {
  return parseScript(script, { fileName: fileName ?? (scriptPath === undefined ? 'script.js' : basename(scriptPath)) });
}

/** Where the author's file is, for relative paths; the working directory when there is none. */
export function scriptDirectoryOf({ record }: Pick<RunDirectory, 'record'>): string {
  return record.scriptPath === undefined ? record.cwd : dirname(record.scriptPath);
}

/** The limits of a launch; undefined members count as not given. A budget of 0 or less is none. */
export function effectiveLimits(given: Partial<RunLimits> | undefined): RunLimits {
  const limits: RunLimits = { ...DEFAULT_LIMITS, ...withoutUndefined(given ?? {}) };
  const { budget, budgetUsd } = limits;
  return { ...limits, budget: orNone(budget), budgetUsd: orNone(budgetUsd) };
}

function orNone(budget: number | null): number | null {
  return budget !== null && budget <= 0 ? null : budget;
}

export function effectiveConcurrency(options: WorkflowOptions): { value: number; source: string } {
  const { concurrency, backend } = options;
  if (concurrency === undefined) return { value: backend.defaultConcurrency, source: `default of ${backend.name}` };
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 256) {
    throw new WorkflowError(
      'USAGE_INVALID',
      `The concurrency is ${concurrency}; it must be a whole number from 1 to 256.`,
    );
  }
  return { value: concurrency, source: 'given' };
}

/** The parts of a run's record that its options decide. */
export function describeRun(
  options: WorkflowOptions,
  script: ParsedScript,
  argsJson: string | undefined,
): Pick<
  RunRecord,
  'name' | 'description' | 'scriptFileName' | 'scriptSha256' | 'argsSha256' | 'backend' | 'simulated' | 'status'
> {
  return {
    name: script.meta.name,
    description: script.meta.description,
    status: 'running',
    scriptFileName: script.fileName,
    scriptSha256: sha256(script.source),
    argsSha256: argsHash(argsJson),
    backend: options.backend.name,
    simulated: options.backend.simulated,
  };
}

/** Puts a run together whose directory is open, and files its launch. */
export function prepareRun(
  options: WorkflowOptions & { readonly sandbox: Sandbox },
  directory: RunDirectory,
  script: ParsedScript,
  argsJson: string | undefined,
  replay: Replay,
  schemas: NamedSchemas,
  onNewContent?: (label: string) => void,
): PreparedRun {
  const limits = effectiveLimits(options.limits);
  const concurrency = effectiveConcurrency(options);
  const { record } = directory;
  directory.journal.append({
    type: 'launched',
    v: JOURNAL_VERSION,
    runId: directory.runId,
    launch: record.launch,
    scriptSha256: record.scriptSha256,
    argsSha256: record.argsSha256,
    limits: { ...limits, concurrency: concurrency.value },
    scopes: 1,
    wfVersion: WF_VERSION,
    nodeVersion: process.versions.node,
    at: record.updatedAt,
  });
  return {
    directory,
    script,
    argsJson,
    limits,
    concurrency,
    replay,
    costs: openCostMeter(options.backend, options.prices, record.launch, directory.history.rows),
    redactor: createRedactor(options.secrets ?? []),
    sandbox: options.sandbox,
    schemas,
    cwd: record.cwd,
    ...(onNewContent === undefined ? {} : { onNewContent }),
    options,
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
