import type { Cuts } from '../cuts.ts';

/** How a hook process ended. */
export interface HookProcessEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a hook said, whatever its event. */
export interface HookOutput {
  /** Why what it was asked about must not go on; undefined when it may. */
  readonly block: string | undefined;
  /** Another input for the tool. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly additionalContext: string | undefined;
  /** Standard output that is no JSON object. */
  readonly plainText: string | undefined;
  /** What is wrong with it, in words that follow the hook's name. */
  readonly problem: string | undefined;
}

/** Exit code of a hook that refuses. Source: spec H-18. */
const BLOCKED = 2;
const STDERR_IN_PROBLEM = 300;
const NO_REASON = 'A hook refused this and gave no reason.';

/**
 * Reads what a hook said. JSON on standard output is read leniently: members that are unknown or of a wrong type count as
 * absent, and no output is fine.
 */
export function readHookOutput({ exitCode, stdout, stderr }: HookProcessEnd, cuts: Cuts): HookOutput {
  const json = jsonObjectOf(stdout);
  const said = json === undefined ? undefined : sayings(json);
  const plainText = json === undefined && stdout.trim() !== '' ? stdout.trim() : undefined;
  if (exitCode === 0) return { ...NOTHING, ...said, plainText };
  if (exitCode === BLOCKED) {
    return { ...NOTHING, block: (said?.block ?? text(json?.['reason']) ?? text(stderr.trim())) || NO_REASON };
  }
  const how = exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`;
  const detail = cuts.slice(stderr.trim(), 0, STDERR_IN_PROBLEM);
  return { ...NOTHING, problem: detail === '' ? how : `${how}: ${detail}` };
}

const NOTHING: HookOutput = {
  block: undefined,
  input: undefined,
  additionalContext: undefined,
  plainText: undefined,
  problem: undefined,
};

type Json = Readonly<Record<string, unknown>>;

function sayings(json: Json): Partial<HookOutput> {
  const specific = isObject(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {};
  const decision = specific['permissionDecision'] ?? json['permissionDecision'] ?? json['decision'];
  const reason =
    text(specific['permissionDecisionReason']) ?? text(json['permissionDecisionReason']) ?? text(json['reason']);
  const input = [specific['updatedInput'], specific['modifiedInput'], json['updatedInput'], json['modifiedInput']];
  return {
    block: refusalOf(decision, reason ?? text(json['stopReason'])),
    input: input.find(isObject),
    additionalContext: text(specific['additionalContext']) ?? text(json['additionalContext']),
  };
}

/** A hook that wants a person asked is a refusal: whoever runs hooks cannot ask for them, and must not go on without. */
function refusalOf(decision: unknown, reason: string | undefined): string | undefined {
  if (decision === 'deny' || decision === 'block') return reason ?? NO_REASON;
  if (decision !== 'ask') return undefined;
  return `It needs a person's yes, and nobody can be asked by a hook here${reason === undefined ? '' : `: ${reason}`}`;
}

function jsonObjectOf(stdout: string): Json | undefined {
  if (!stdout.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(stdout);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for anything but a text that says something. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
