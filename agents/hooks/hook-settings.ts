import { nearestWord } from '../../protocol/nearest-word.ts';
import { HOOK_EVENTS, type HookEvent } from './hooks.ts';

/** One program that is run for an event. */
export interface HookCommand {
  /** Which tools, agent types, sources or reasons it is for; undefined for all. */
  readonly matcher: string | undefined;
  /** For a shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Where the settings that name it are from. */
  readonly source: HookSource;
}

export interface HookSource {
  /** Absolute path of the settings, or a name for those that no file holds; for messages. */
  readonly name: string;
  /** Directory of the plugin that brings the hook. */
  readonly pluginDirectory?: string;
}

export interface HookSettings {
  readonly commands: ReadonlyMap<HookEvent, readonly HookCommand[]>;
  /** The settings say that no hook at all may run. */
  readonly disableAll: boolean;
  /** A sentence for each part that cannot be used. */
  readonly problems: readonly string[];
}

/** Source: spec H-18. */
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/**
 * Takes the hooks out of the text of one settings file. What is wrong in it is told and skipped: settings of other programs
 * must not keep a run from starting.
 */
export function readHookSettings(text: string, source: HookSource): HookSettings {
  const commands = new Map<HookEvent, HookCommand[]>();
  const problems: string[] = [];
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch {
    return { commands, disableAll: false, problems: [`${source.name} is no valid JSON, so its hooks are left out.`] };
  }
  if (!isObject(settings)) return { commands, disableAll: false, problems };
  const hooks = settings['hooks'] ?? {};
  if (!isObject(hooks)) problems.push(`"hooks" in ${source.name} is no object, so it is left out.`);
  else {
    for (const event of HOOK_EVENTS) {
      const found = commandsOf(hooks[event], event, source, problems);
      if (found.length > 0) commands.set(event, found);
    }
    problems.push(...misspeltEvents(hooks, source));
  }
  return { commands, disableAll: settings['disableAllHooks'] === true, problems };
}

/** Programs that share these settings have more events, so only a name that is nearly one of ours is told of. */
function misspeltEvents(hooks: object, source: HookSource): readonly string[] {
  return Object.keys(hooks).flatMap((name) => {
    const near = HOOK_EVENTS.some((event) => event === name) ? undefined : nearestWord(name, HOOK_EVENTS);
    if (near === undefined) return [];
    return [`No event of hooks is named ${JSON.stringify(name.slice(0, 80))} in ${source.name}; did you mean ${near}?`];
  });
}

function commandsOf(groups: unknown, event: HookEvent, source: HookSource, problems: string[]): HookCommand[] {
  if (groups === undefined) return [];
  if (!Array.isArray(groups)) {
    problems.push(`The ${event} hooks in ${source.name} are no list, so they are left out.`);
    return [];
  }
  return groups.flatMap((group: unknown) => {
    if (!isObject(group) || !Array.isArray(group['hooks'])) {
      problems.push(`A ${event} entry in ${source.name} has no list "hooks", so it is left out.`);
      return [];
    }
    const matcher = typeof group['matcher'] === 'string' ? group['matcher'] : undefined;
    return group['hooks'].flatMap((hook: unknown) => commandOf(hook, matcher, event, source, problems));
  });
}

function commandOf(
  hook: unknown,
  matcher: string | undefined,
  event: HookEvent,
  source: HookSource,
  problems: string[],
): HookCommand[] {
  const { type, command, timeout } = isObject(hook) ? hook : {};
  if (type !== 'command' && type !== undefined) {
    problems.push(`A ${event} hook in ${source.name} is of type ${JSON.stringify(type)}; only "command" is run here.`);
    return [];
  }
  if (typeof command !== 'string' || command.trim() === '') {
    problems.push(`A ${event} hook in ${source.name} has no "command", so it is left out.`);
    return [];
  }
  return [{ matcher, command, timeoutMs: timeoutMsOf(timeout), source }];
}

/** `timeout` is in seconds. */
function timeoutMsOf(timeout: unknown): number {
  if (typeof timeout !== 'number' || !(timeout > 0)) return DEFAULT_TIMEOUT_MS;
  return Math.min(timeout * 1000, MAX_TIMEOUT_MS);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
