import type {
  ErrorForGuest,
  GuestAgentCall,
  GuestWorkflowCall,
  Sandbox,
  SandboxAnswer,
  SandboxEnd,
  SandboxHandlers,
  SandboxOptions,
  SandboxProgram,
} from '../../../../runtime/sandbox/sandbox.ts';
import { spawnSandbox } from '../../../../runtime/sandbox/spawn-sandbox.ts';
import { parseScript } from '../../../../runtime/script/parse-script.ts';

const META = "export const meta = { name: 'test', description: 'a test' }\n";

export interface Scenario {
  readonly args?: unknown;
  readonly options?: Partial<SandboxOptions>;
  readonly fileName?: string;
  /** Answers an agent; undefined never answers. @defaultValue the text `ok` */
  readonly agent?: (call: GuestAgentCall) => SandboxAnswer | Promise<SandboxAnswer> | undefined;
  /** Texts of nested workflows by name. */
  readonly workflows?: Readonly<Record<string, string>>;
  /** Called once the sandbox runs. */
  readonly meanwhile?: (sandbox: Sandbox) => void;
}

export interface SandboxRecord {
  readonly end: SandboxEnd;
  /** The result, parsed; undefined when there is none. */
  readonly value: unknown;
  readonly agents: readonly GuestAgentCall[];
  readonly workflows: readonly GuestWorkflowCall[];
  readonly phases: readonly string[];
  readonly logs: readonly string[];
  readonly parts: readonly Parameters<SandboxHandlers['partFailed']>[0][];
  /** Everything the script did, in order. */
  readonly order: readonly string[];
}

/** Runs a script in a real sandbox process against scripted answers. A text without `export const meta` is a body; its line 1 is line 2. */
export async function runInSandbox(text: string, scenario: Scenario = {}): Promise<SandboxRecord> {
  const sandbox = spawnSandbox();
  const agents: GuestAgentCall[] = [];
  const workflows: GuestWorkflowCall[] = [];
  const phases: string[] = [];
  const logs: string[] = [];
  const parts: SandboxRecord['parts'][number][] = [];
  const order: string[] = [];
  let spent = 0;
  const answer = async (call: GuestAgentCall): Promise<void> => {
    const given = await (scenario.agent === undefined ? saying('ok') : scenario.agent(call));
    if (given === undefined) return;
    spent += 10;
    sandbox.answer(call.id, given, spent);
  };
  sandbox.run(
    programOf(text, scenario.fileName ?? 'script.js', scenario.args),
    { memoryLimitMb: 256, cpuLimitMs: 10_000, maxItems: 4096, budgetTotal: null, maxDepth: 1, ...scenario.options },
    {
      agent(call) {
        agents.push(call);
        order.push(`agent ${call.prompt}`);
        void answer(call);
      },
      workflow(call) {
        workflows.push(call);
        order.push('workflow');
        answerWorkflow(sandbox, call, scenario.workflows ?? {});
      },
      phase(title) {
        phases.push(title);
        order.push(`phase ${title}`);
      },
      log(level, line) {
        logs.push(`${level}: ${line}`);
        order.push(`log ${line}`);
      },
      partFailed(part) {
        parts.push(part);
        order.push(`part ${part.index}`);
      },
    },
  );
  scenario.meanwhile?.(sandbox);
  const end = await sandbox.end;
  const json = end.type === 'returned' ? end.valueJson : undefined;
  return {
    end,
    value: json === undefined ? undefined : JSON.parse(json),
    agents,
    workflows,
    phases,
    logs,
    parts,
    order,
  };
}

/** The answer of an agent that says a text. */
export function saying(text: string): SandboxAnswer {
  return { ok: true, valueJson: JSON.stringify(text) };
}

/** The answer of an agent that fails. */
export function failure(error: Partial<ErrorForGuest> = {}): SandboxAnswer {
  return {
    ok: false,
    error: { name: 'WorkflowError', code: 'AGENT_NO_OUTPUT', message: 'there was no output', ...error },
  };
}

export function programOf(text: string, fileName: string, args: unknown): SandboxProgram {
  const script = parseScript(text.includes('export const meta') ? text : META + text, { fileName });
  return {
    fileName: script.fileName,
    code: script.code,
    metaJson: JSON.stringify(script.meta),
    argsJson: args === undefined ? undefined : JSON.stringify(args),
  };
}

function answerWorkflow(sandbox: Sandbox, call: GuestWorkflowCall, texts: Readonly<Record<string, string>>): void {
  const name = 'name' in call.ref ? call.ref.name : call.ref.scriptPath;
  const text = texts[name];
  if (text === undefined) {
    const error = {
      name: 'WorkflowError',
      code: 'WORKFLOW_UNKNOWN',
      message: `There is no workflow ${name}.`,
    } as const;
    sandbox.answerWorkflow(call.id, { ok: false, error });
    return;
  }
  const args: unknown = call.argsJson === undefined ? undefined : JSON.parse(call.argsJson);
  try {
    sandbox.answerWorkflow(call.id, { ok: true, name, program: programOf(text, `${name}.js`, args) });
  } catch (error) {
    const refused = { name: 'WorkflowError', code: 'SCRIPT_SYNTAX', message: (error as Error).message } as const;
    sandbox.answerWorkflow(call.id, { ok: false, error: refused });
  }
}
