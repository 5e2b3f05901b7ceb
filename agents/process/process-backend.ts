import { availableParallelism } from 'node:os';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentBackend, AgentReporter, AgentRequest, Clock } from '../../runtime/ports.ts';
import { type AgentType, type AgentTypes, BUILT_IN_AGENT_TYPES, findAgentType } from '../agent-types.ts';
import { cutsOf } from '../cuts.ts';
import { wallClock } from '../wall-clock.ts';
import { AgentProcess } from './agent-process.ts';
import { type CliAbilities, readAbilities } from './cli-abilities.ts';
import { type CliPermissions, cliArguments, type SchemaWay } from './cli-arguments.ts';
import { converseWithCli } from './cli-conversation.ts';
import { cliEnvironment } from './cli-environment.ts';
import { findProgram } from './find-program.ts';
import { type GroupGuardian, startGuardian } from './group-guardian.ts';
import { createStructuredOutputServer } from './structured-output-server.ts';

export interface ProcessBackendOptions {
  /** How outputs name the backend: `claude`, `codebuddy`, or `process` for any other command. */
  readonly name: string;
  /** The command and its first arguments; ours come after them. */
  readonly command: readonly string[];
  /** Environment of the processes, less what {@link cliEnvironment} keeps back. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From where a relative path of the command is seen; absolute. */
  readonly cwd: string;
  /** Alias or id of the model for calls that name none. @defaultValue the CLI's own */
  readonly model?: string | undefined;
  readonly permissions?: CliPermissions | undefined;
  /** @defaultValue the built-in types */
  readonly agentTypes?: AgentTypes | undefined;
  /** Processors of this machine, which bound how many processes run at once. */
  readonly processors?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** A longer one is no argument of a process on Linux. */
const MAX_SCHEMA_ARGUMENT = 100_000;

/**
 * Opens a backend that starts one process of an agent CLI an agent. Source: spec A-26.
 *
 * Contract:
 * - The command speaks stream-json on both sides, as `claude` and `codebuddy` do; a schema goes in through its
 *   `--json-schema` where its help names one, else as a tool of an MCP server of ours on the loopback interface.
 * - Every process is in a group of its own, which dies with its agent, with the backend and with this process.
 *
 * @throws WorkflowError `FILE_MISSING` when there is no such command
 */
export async function openProcessBackend(options: ProcessBackendOptions): Promise<AgentBackend> {
  const [command = '', ...firstArguments] = options.command;
  const { cwd, env } = options;
  const program = await findProgram(command, { searchPath: env['PATH'] ?? '', cwd });
  if (program === undefined) throw notFound(options.name, command);
  return new ProcessBackend(options, { command, program, firstArguments });
}

interface Command {
  /** As it was given. */
  readonly command: string;
  /** Absolute path. */
  readonly program: string;
  readonly firstArguments: readonly string[];
}

class ProcessBackend implements AgentBackend {
  readonly name: string;
  readonly defaultConcurrency: number;
  readonly canRejoin = false;
  readonly simulated = false;
  readonly costs = true;
  readonly model: string | undefined;
  readonly #options: ProcessBackendOptions;
  readonly #command: Command;
  readonly #clock: Clock;
  readonly #types: AgentTypes;
  readonly #guardian: GroupGuardian;
  readonly #server = createStructuredOutputServer();
  readonly #processes = new Set<AgentProcess>();
  #abilities: Promise<CliAbilities> | undefined;

  constructor(options: ProcessBackendOptions, command: Command) {
    this.name = options.name;
    this.model = options.model;
    // A process of such a CLI takes hundreds of megabytes and, at its start, a processor (design decision 8).
    this.defaultConcurrency = Math.min(16, Math.max(2, (options.processors ?? availableParallelism()) - 2));
    this.#guardian = startGuardian(options.env['PATH']);
    this.#options = options;
    this.#command = command;
    this.#clock = options.clock ?? wallClock;
    this.#types = options.agentTypes ?? BUILT_IN_AGENT_TYPES;
  }

  async run(...[request, signal, report]: Parameters<AgentBackend['run']>) {
    const type = findAgentType(this.#types, request.options.agentType);
    const abilities = await this.#readAbilities();
    const schema = await this.#offerSchema(request, abilities);
    try {
      const args = this.#argumentsFor(request, { abilities, schema, type });
      return await converseWithCli({
        request,
        signal,
        report,
        clock: this.#clock,
        command: this.#command.command,
        open: () => this.#open(request, args, report),
      });
    } finally {
      if (schema?.type === 'mcp') this.#server.withdraw(schema.url);
    }
  }

  admit(call: AgentRequest['options']): void {
    findAgentType(this.#types, call.agentType);
  }

  async warmUp(): Promise<void> {
    await this.#readAbilities();
  }

  async close(): Promise<void> {
    const ended = [...this.#processes].map((one) => {
      one.stop();
      return one.ended;
    });
    await Promise.all([...ended, this.#server.close()]);
    this.#guardian.close();
  }

  #readAbilities(): Promise<CliAbilities> {
    const { program, firstArguments } = this.#command;
    const { cwd } = this.#options;
    this.#abilities ??= readAbilities(program, firstArguments, { cwd, env: cliEnvironment(this.#options.env, 5) });
    return this.#abilities;
  }

  async #offerSchema({ output }: AgentRequest, abilities: CliAbilities): Promise<SchemaWay | undefined> {
    if (output === undefined) return undefined;
    const schemaJson = JSON.stringify(output.wireSchema);
    if (abilities.has('--json-schema') && Buffer.byteLength(schemaJson) <= MAX_SCHEMA_ARGUMENT) {
      return { type: 'flag', schemaJson };
    }
    return { type: 'mcp', url: await this.#server.offer(output) };
  }

  #argumentsFor(
    request: AgentRequest,
    parts: {
      readonly abilities: CliAbilities;
      readonly schema: SchemaWay | undefined;
      readonly type: AgentType | undefined;
    },
  ): readonly string[] {
    const model = request.options.model ?? parts.type?.model ?? this.model;
    const { permissions = {} } = this.#options;
    return [...this.#command.firstArguments, ...cliArguments(request, { ...parts, model, permissions })];
  }

  #open(request: AgentRequest, args: readonly string[], report: AgentReporter): AgentProcess {
    const started = new AgentProcess({
      program: this.#command.program,
      args,
      cwd: request.cwd,
      env: cliEnvironment(this.#options.env, request.maxStructuredOutputRetries),
      guardian: this.#guardian,
      clock: this.#clock,
      cuts: cutsOf(report),
      onSign: () => report.alive(),
    });
    this.#processes.add(started);
    void started.ended.then(() => this.#processes.delete(started));
    return started;
  }
}

function notFound(name: string, command: string): WorkflowError {
  const instead = name === 'process' ? 'Name one with --agent-command' : 'Name it with --agent-command';
  const where = command.includes('/') ? 'is no program that can be started' : 'was not found on the search path';
  return new WorkflowError(
    'FILE_MISSING',
    `The command "${command}" of the ${name} backend ${where}. Install it, or ${instead[0]?.toLowerCase()}${instead.slice(1)} 'COMMAND [ARGUMENT…]', or choose another backend with --backend.`,
  );
}
