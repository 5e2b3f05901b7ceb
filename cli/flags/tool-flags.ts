import { type Command, InvalidArgumentError, Option } from 'commander';
import { PERMISSION_MODES, type PermissionMode } from '../../agents/tools/permissions/permission-modes.ts';
import {
  isPermissionRule,
  parsePermissionRule,
  splitPermissionRules,
} from '../../agents/tools/permissions/permission-rule.ts';
import type { AskPermission, PermissionOptions } from '../../agents/tools/permissions/permissions.ts';
import type { SandboxChoice } from '../../agents/tools/shell/command-sandbox.ts';
import type { ShellOptions } from '../../agents/tools/tool-host.ts';
import { withoutSecrets } from '../../runtime/redact.ts';
import type { CliContext } from '../cli-context.ts';
import { wordOf } from './option-values.ts';

/** What agents may do, as typed or as an earlier launch left it. Absent means not given. */
export interface ToolFlags {
  readonly permissionMode?: PermissionMode;
  readonly allowTools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly bashSandbox?: SandboxChoice;
  readonly allowDomains?: readonly string[];
}

const SANDBOX_CHOICES: readonly SandboxChoice[] = ['auto', 'required', 'off'];
/** The tools of an agent. Those of MCP servers and of other programs have names of their own. */
export const TOOL_NAMES: readonly string[] = ['Read', 'Glob', 'Grep', 'Edit', 'Write', 'Bash', 'BashOutput'];
const DOMAIN = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i;

/** Adds the options that bound agents. Source: spec A-29. */
export function addToolFlags(command: Command): void {
  command
    .optionsGroup('What agents may do:')
    .addOption(
      new Option(
        '--permission-mode <mode>',
        'default (they read only), acceptEdits, bypassPermissions or plan',
      ).argParser(wordOf(PERMISSION_MODES)),
    )
    .option('--allow-tools <rules>', 'what else they may: "Edit(src/**),Bash(npm test:*)"; may be repeated', rulesOf)
    .option('--deny-tools <rules>', 'what they may not, whatever else is said; may be repeated', rulesOf)
    .addOption(
      new Option(
        '--bash-sandbox <choice>',
        'sandbox of the system for Bash: auto (default), required or off',
      ).argParser(wordOf(SANDBOX_CHOICES)),
    )
    .option('--allow-domains <hosts>', 'hosts that Bash may reach from its sandbox; none without it', domainsOf);
}

/** Takes what was typed before what is stored, each flag on its own. */
export function mergeToolFlags(typed: ToolFlags, stored: ToolFlags): ToolFlags {
  const permissionMode = typed.permissionMode ?? stored.permissionMode;
  const allowTools = typed.allowTools ?? stored.allowTools;
  const denyTools = typed.denyTools ?? stored.denyTools;
  const bashSandbox = typed.bashSandbox ?? stored.bashSandbox;
  const allowDomains = typed.allowDomains ?? stored.allowDomains;
  return {
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(allowTools === undefined ? {} : { allowTools }),
    ...(denyTools === undefined ? {} : { denyTools }),
    ...(bashSandbox === undefined ? {} : { bashSandbox }),
    ...(allowDomains === undefined ? {} : { allowDomains }),
  };
}

/** Reads them back from a record; what is of a wrong type, or no rule any more, counts as absent. */
export function readToolFlags(stored: Readonly<Record<string, unknown>>): ToolFlags {
  const { permissionMode, allowTools, denyTools, bashSandbox, allowDomains } = stored;
  return mergeToolFlags(
    {
      ...(PERMISSION_MODES.includes(permissionMode as PermissionMode)
        ? { permissionMode: permissionMode as PermissionMode }
        : {}),
      ...(isTexts(allowTools) ? { allowTools: allowTools.filter(isPermissionRule) } : {}),
      ...(isTexts(denyTools) ? { denyTools: denyTools.filter(isPermissionRule) } : {}),
      ...(SANDBOX_CHOICES.includes(bashSandbox as SandboxChoice) ? { bashSandbox: bashSandbox as SandboxChoice } : {}),
      ...(isTexts(allowDomains) ? { allowDomains: allowDomains.filter((domain) => DOMAIN.test(domain)) } : {}),
    },
    {},
  );
}

/** Makes the options of a backend. The environment of commands has no variable with a secret name. */
export function toolOptions(
  flags: ToolFlags,
  env: CliContext['env'],
  ask?: AskPermission,
): { readonly permissions: PermissionOptions; readonly shell: ShellOptions } {
  return {
    permissions: { mode: flags.permissionMode, allow: flags.allowTools, deny: flags.denyTools, ask },
    shell: {
      env: withoutSecrets(env),
      sandbox: flags.bashSandbox,
      allowedDomains: flags.allowDomains,
      temporaryRoot: env['TMPDIR'] || undefined,
    },
  };
}

/** Names in rules that no tool has: probably typed wrong, and then the rule does nothing. */
export function unknownToolNames({ allowTools = [], denyTools = [] }: ToolFlags): readonly string[] {
  const names = [...allowTools, ...denyTools].map((rule) => rule.replace(/\([\s\S]*$/, ''));
  return [...new Set(names)].filter((name) => !TOOL_NAMES.includes(name) && !/^mcp__|\*/.test(name));
}

function rulesOf(list: string, previous: readonly string[] | undefined): readonly string[] {
  const rules = splitPermissionRules(list);
  if (rules.length === 0)
    throw new InvalidArgumentError('It is empty; name tools, such as Edit or "Bash(npm test:*)".');
  for (const rule of rules) {
    try {
      parsePermissionRule(rule);
    } catch (error) {
      throw new InvalidArgumentError(`${error instanceof Error ? error.message : String(error)}.`);
    }
  }
  return [...(previous ?? []), ...rules];
}

function domainsOf(list: string, previous: readonly string[] | undefined): readonly string[] {
  const domains = list.split(/[\s,]+/).filter((domain) => domain !== '');
  const wrong = domains.find((domain) => !DOMAIN.test(domain));
  if (wrong !== undefined || domains.length === 0) {
    throw new InvalidArgumentError(
      `It takes names of hosts, such as registry.npmjs.org or *.example.com${wrong === undefined ? '' : `, not "${wrong}"`}.`,
    );
  }
  return [...(previous ?? []), ...domains];
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
