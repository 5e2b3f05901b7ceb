import { isWorkflowError } from '../../../protocol/workflow-error.ts';
import type { AgentTool } from '../agent-tool.ts';
import { mentionsWords, readShellCommand } from '../shell/shell-commands.ts';
import { type Deed, isSteering, MODE_TABLE, type PermissionMode } from './permission-modes.ts';
import { type PermissionRule, parsePermissionRule } from './permission-rule.ts';
import { suggestRule } from './suggest-rule.ts';

/** A tool call that needs a yes. */
export interface PermissionQuestion {
  readonly toolName: string;
  readonly input: unknown;
  readonly toolUseId: string;
  readonly agentId: string;
  readonly label: string;
  readonly phase: string | null;
  /** Working directory of the agent; absolute. */
  readonly cwd: string;
  /** Why it needs one, in a sentence. */
  readonly reason: string;
}

export type PermissionAnswer =
  | { readonly allow: true /** Replaces the input. */; readonly updatedInput?: unknown }
  | { readonly allow: false /** Read by the model. */; readonly message: string };

/** Asks whoever is there. Rejects only after its signal aborted; another rejection counts as a no. */
export type AskPermission = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>;

/** What agents may do with their tools. Source: spec A-29. */
export interface PermissionOptions {
  /** @defaultValue default */
  readonly mode?: PermissionMode | undefined;
  /** Rules for calls that need no yes, such as `Edit(src/**)` or `Bash(npm test:*)`. @defaultValue none */
  readonly allow?: readonly string[] | undefined;
  /** Rules for calls that are refused whatever else is said. @defaultValue none */
  readonly deny?: readonly string[] | undefined;
  /** Asked where neither rule nor mode decides. @defaultValue nobody is there, and the call is denied */
  readonly ask?: AskPermission | undefined;
}

/** One call to be judged. */
export interface PermissionCall {
  readonly tool: AgentTool;
  readonly input: unknown;
  readonly toolUseId: string;
  readonly cwd: string;
  readonly agent: { readonly agentId: string; readonly label: string; readonly phase: string | null };
}

export type PermissionVerdict =
  | { readonly allow: true /** The input to run with. */; readonly input: unknown }
  | {
      readonly allow: false;
      /** For the model. */
      readonly message: string;
      /** It was refused only since nobody could be asked. */
      readonly unattended?: Refusal;
    };

/** A call that a yes would have allowed. */
export interface Refusal {
  readonly toolName: string;
  /** Its command or path; unbounded. */
  readonly about?: string | undefined;
  /** What would allow it. */
  readonly rule: string;
}

/**
 * Judges tool calls. In this order: a deny rule, a mode that forbids, an allow rule, a mode that allows, whoever can be
 * asked; and where nobody can, no.
 */
export interface Permissions {
  readonly mode: PermissionMode;
  /** Whether some call of this tool could be allowed. What could not is not offered to a model. */
  offers(tool: Pick<AgentTool, 'name' | 'access'>): boolean;
  /**
   * Whether some tool of an MCP server could be allowed. One of which none could is not even started.
   *
   * @param prefix beginning of the names of its tools, such as `mcp__docs__`
   */
  offersServer(prefix: string): boolean;
  check(call: PermissionCall, signal: AbortSignal): Promise<PermissionVerdict>;
  /** Gives the test that tools which walk over files apply to each path; undefined when every file may be read. */
  readFilter(): Promise<((relativePath: string) => boolean) | undefined>;
}

/** @throws WorkflowError `USAGE_INVALID` for a rule that means nothing */
export function createPermissions(options: PermissionOptions = {}): Permissions {
  return new RuledPermissions(options);
}

/** What a call is about, as far as rules speak of it. */
interface Subject {
  readonly deed: Deed | undefined;
  readonly path?: string;
  readonly alias?: string;
  readonly command?: string;
}

class RuledPermissions implements Permissions {
  readonly mode: PermissionMode;
  readonly #allow: readonly PermissionRule[];
  readonly #deny: readonly PermissionRule[];
  readonly #ask: AskPermission | undefined;

  constructor({ mode = 'default', allow = [], deny = [], ask }: PermissionOptions) {
    this.mode = mode;
    this.#allow = allow.map(parsePermissionRule);
    this.#deny = deny.map(parsePermissionRule);
    this.#ask = ask;
  }

  offers({ name, access }: Pick<AgentTool, 'name' | 'access'>): boolean {
    if (this.#deny.some((rule) => rule.kind === 'tool' && rule.name.test(name))) return false;
    const verdict = access === undefined ? 'allow' : MODE_TABLE[this.mode][access];
    if (verdict !== 'ask') return verdict === 'allow';
    return this.#ask !== undefined || this.#allow.some((rule) => couldAllow(rule, name, access));
  }

  offersServer(prefix: string): boolean {
    if (this.#deny.some((rule) => rule.kind === 'tool' && coversAll(rule, prefix))) return false;
    const verdict = MODE_TABLE[this.mode].external;
    if (verdict !== 'ask') return verdict === 'allow';
    return this.#ask !== undefined || this.#allow.some((rule) => rule.kind === 'tool' && reaches(rule, prefix));
  }

  async check(call: PermissionCall, signal: AbortSignal): Promise<PermissionVerdict> {
    const subject = await subjectOf(call);
    const denied = await this.#deniedBy(call.tool.name, subject);
    if (denied !== undefined) return no(denied);
    const { deed } = subject;
    const verdict = deed === undefined ? 'allow' : MODE_TABLE[this.mode][deed];
    if (verdict === 'deny')
      return no(`In the permission mode "${this.mode}" agents only read; ${call.tool.name} is refused.`);
    if (verdict === 'allow') return { allow: true, input: call.input };
    const missing = await this.#notAllowedBecause(call.tool.name, subject);
    if (missing === undefined) return { allow: true, input: call.input };
    return this.#askFor(call, subject, missing, signal);
  }

  async readFilter(): Promise<((relativePath: string) => boolean) | undefined> {
    const rules = this.#deny.filter((rule) => rule.kind === 'path' && rule.access === 'read');
    if (rules.length === 0) return undefined;
    const tests = await Promise.all(rules.map((rule) => pathTest(rule, 'any case')));
    return (relativePath) => !tests.some((test) => test(relativePath));
  }

  async #deniedBy(name: string, subject: Subject): Promise<string | undefined> {
    for (const rule of this.#deny) {
      if (!(await matchesDeny(rule, name, subject))) continue;
      return `${name} is refused here by the rule ${rule.text}. Do it another way, or say in the result that it could not be done.`;
    }
    return undefined;
  }

  /** Gives why no allow rule covers the call; undefined when one does. */
  async #notAllowedBecause(name: string, { deed, path, command }: Subject): Promise<string | undefined> {
    for (const rule of this.#allow) {
      if (rule.kind === 'tool' && rule.name.test(name) && deed !== 'steer') return undefined;
      if (rule.kind !== 'path' || path === undefined || rule.access !== (deed === 'steer' ? 'edit' : deed)) continue;
      if ((await pathTest(rule, 'same case'))(path)) return undefined;
    }
    if (deed === 'steer')
      return `${path} tells other programs what to do, and only a rule such as Edit(${path}) allows its change`;
    if (command !== undefined) return this.#commandNotAllowed(command);
    return `no rule allows ${path === undefined ? name : `${name} of ${path}`} in the permission mode "${this.mode}"`;
  }

  #commandNotAllowed(command: string): string | undefined {
    const rules = this.#allow.filter((rule) => rule.kind === 'command');
    if (rules.length === 0) return `no rule allows Bash in the permission mode "${this.mode}"`;
    const reading = readShellCommand(command);
    const listed = rules.map(({ text }) => text).join(', ');
    if (!reading.plain) return `${reading.why}, so that the rules for parts of Bash (${listed}) do not cover it`;
    const other = reading.commands.find((words) => !rules.some((rule) => startsWith(words, rule)));
    return other === undefined
      ? undefined
      : `the rules for Bash (${listed}) do not cover "${other.join(' ').slice(0, 100)}"`;
  }

  #refusal(toolName: string, subject: Subject): Refusal {
    const isAllowed = (words: readonly string[]): boolean => this.#allow.some((rule) => startsWith(words, rule));
    return { toolName, about: subject.command ?? subject.path, rule: suggestRule(toolName, subject, isAllowed) };
  }

  async #askFor(
    call: PermissionCall,
    subject: Subject,
    reason: string,
    signal: AbortSignal,
  ): Promise<PermissionVerdict> {
    const { tool, input, toolUseId, cwd, agent } = call;
    if (this.#ask === undefined) {
      const message = `${tool.name} needs a permission that nobody is there to give: ${reason}. Go on without it, and say in the result what could not be done.`;
      return { allow: false, message, unattended: this.#refusal(tool.name, subject) };
    }
    const question: PermissionQuestion = { toolName: tool.name, input, toolUseId, cwd, reason, ...agent };
    let answer: PermissionAnswer;
    try {
      answer = await this.#ask(question, signal);
    } catch (error) {
      signal.throwIfAborted();
      return no(`${tool.name} needs a permission, and asking for it failed: ${messageOf(error)}`);
    }
    if (!answer.allow) return no(answer.message);
    if (answer.updatedInput === undefined) return { allow: true, input };
    // Whoever says yes may change the input, but not past a deny rule.
    const denied = await this.#deniedBy(tool.name, await subjectOf({ ...call, input: answer.updatedInput }));
    return denied === undefined ? { allow: true, input: answer.updatedInput } : no(denied);
  }
}

/** Whether a rule names every tool whose name begins so. */
function coversAll({ text }: PermissionRule, prefix: string): boolean {
  const [head = '', ...rest] = text.split('*');
  return rest.length === 1 && rest[0] === '' && prefix.startsWith(head);
}

/** Whether a rule names some tool whose name begins so. */
function reaches({ text }: PermissionRule, prefix: string): boolean {
  const [head = '', ...rest] = text.split('*');
  return head.startsWith(prefix) || (rest.length > 0 && prefix.startsWith(head));
}

async function subjectOf({ tool, input, cwd }: PermissionCall): Promise<Subject> {
  const { access } = tool;
  // A path that cannot be resolved is refused by the tool itself, in better words.
  const about = await tool.subject?.(input, cwd).catch(() => undefined);
  const steers = [about?.path, about?.alias].some((path) => path !== undefined && isSteering(path));
  return { ...about, deed: access === 'edit' && steers ? 'steer' : access };
}

function couldAllow(rule: PermissionRule, name: string, access: Deed | undefined): boolean {
  switch (rule.kind) {
    case 'tool':
      return rule.name.test(name);
    case 'path':
      return rule.access === access;
    case 'command':
      return name === 'Bash';
  }
}

async function matchesDeny(rule: PermissionRule, name: string, subject: Subject): Promise<boolean> {
  const { deed, path, alias = path, command } = subject;
  switch (rule.kind) {
    case 'tool':
      return rule.name.test(name);
    case 'path': {
      if (path === undefined || alias === undefined || rule.access !== (deed === 'steer' ? 'edit' : deed)) return false;
      const test = await pathTest(rule, 'any case');
      return test(path) || test(alias);
    }
    case 'command':
      return command !== undefined && mentionsWords(command, rule.words);
  }
}

function startsWith(command: readonly string[], rule: PermissionRule): boolean {
  if (rule.kind !== 'command') return false;
  if (!rule.open && command.length !== rule.words.length) return false;
  return rule.words.every((word, index) => command[index] === word);
}

/** File systems that fold case must not open a way around a deny rule. */
async function pathTest(rule: PermissionRule, letters: 'any case' | 'same case'): Promise<(path: string) => boolean> {
  if (rule.kind !== 'path') return () => false;
  const { RE2JS } = await import('re2js');
  const regex = RE2JS.compile(rule.pattern, RE2JS.DOTALL | (letters === 'any case' ? RE2JS.CASE_INSENSITIVE : 0));
  return (path) => regex.matches(path);
}

function no(message: string): PermissionVerdict {
  return { allow: false, message };
}

function messageOf(error: unknown): string {
  return isWorkflowError(error) || error instanceof Error ? error.message : String(error);
}
