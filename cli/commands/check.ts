import { toErrorRecord } from '../../protocol/workflow-error.ts';
import { checkScript } from '../../runtime/script/check-script.ts';
import { parseScript } from '../../runtime/script/parse-script.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOfError } from '../exit-code.ts';
import { readScriptTarget } from '../launch/read-script-target.ts';
import { printError, wantsStacks } from '../output/print-error.ts';

/** What was found in one script, as `--json` shows it. */
interface CheckedScript {
  /** As it was named. */
  readonly script: string;
  readonly valid: boolean;
  /** Name and phases; absent when the script is invalid. */
  readonly workflow?: { readonly name: string; readonly phases: readonly string[] };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly line?: number;
    readonly column?: number;
  };
  readonly warnings: readonly {
    readonly rule: string;
    readonly message: string;
    readonly line: number;
    readonly column: number;
  }[];
}

/** `wf check`: validates scripts without running them. Warnings alone end with 0. Source: spec C-3. */
export async function checkCommand(
  context: CliContext,
  targets: readonly string[],
  flags: { readonly json?: boolean },
): Promise<number> {
  let exitCode = 0;
  const results: CheckedScript[] = [];
  for (const target of targets) {
    try {
      results.push(await checkOne(context, target));
    } catch (error) {
      const record = toErrorRecord(error);
      results.push({ script: target, valid: false, error: record, warnings: [] });
      exitCode = Math.max(exitCode, exitCodeOfError(record.code));
      if (flags.json !== true) printError(context.stderr, error, wantsStacks(context.env));
    }
  }
  context.stdout.write(
    flags.json === true ? `${JSON.stringify({ scripts: results }, null, 2)}\n` : results.map(asText).join(''),
  );
  return exitCode;
}

async function checkOne(context: CliContext, target: string): Promise<CheckedScript> {
  const { text, fileName } = await readScriptTarget(target, context);
  const script = parseScript(text, { fileName });
  const { name, phases = [] } = script.meta;
  return {
    script: target,
    valid: true,
    workflow: { name, phases: phases.map(({ title }) => title) },
    warnings: [
      ...script.warnings.map((message) => ({ rule: 'meta', message, line: 1, column: 1 })),
      ...checkScript(script).map(({ rule, message, line, column }) => ({ rule, message, line, column })),
    ],
  };
}

function asText({ script, valid, workflow, warnings }: CheckedScript): string {
  if (!valid) return '';
  const lines = warnings.map(
    ({ line, column, rule, message }) => `${script}:${line}:${column} warning ${rule} ${message}\n`,
  );
  const count =
    warnings.length === 0 ? 'no warnings' : warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`;
  return `${lines.join('')}${script}: workflow "${workflow?.name ?? ''}" is valid, ${count}\n`;
}
