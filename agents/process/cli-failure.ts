import { WorkflowError } from '../../protocol/workflow-error.ts';
import { type ApiFailure, type FailureVerdict, judgeApiFailure } from '../api-failure.ts';
import { type Cuts, PLAIN_CUTS } from '../cuts.ts';
import type { ProcessEnd } from './agent-process.ts';
import type { CliResultLine } from './cli-line.ts';

/** Classes of error that agent CLIs name, as the statuses they stand for. */
const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  authentication_failed: 401,
  oauth_org_not_allowed: 403,
  billing_error: 402,
  rate_limit: 429,
  overloaded: 529,
  server_error: 500,
  invalid_request: 400,
  model_not_found: 404,
};

const NOT_LOGGED_IN =
  /\binvalid api key\b|\bplease run \/?login\b|\/login\b|\bnot logged in\b|\b(?:oauth )?token (?:has )?expired\b|\bauthentication (?:required|failed)\b/i;
const LIMIT_REACHED =
  /\b(?:usage|session|weekly|monthly|daily|spend(?:ing)?|\d+-hour) limit\b|\bhit your (?:\w+ )?limit\b|\bquota\b|\bout of (?:extra )?(?:usage|credits)\b/i;
const LOST =
  /\bconnection error\b|\bfetch failed\b|\bECONN(?:RESET|REFUSED|ABORTED)\b|\bETIMEDOUT\b|\bsocket hang up\b|\btimed? ?out\b|\bstream (?:ended|closed|idle)\b|\bconnection (?:was )?(?:closed|lost|reset)\b/i;

const LONGEST_MESSAGE = 2_000;

/** What a failed turn looked like. */
export interface CliFailure {
  /** As a person typed it. */
  readonly command: string;
  readonly text: string;
  /** The CLI's class of error. */
  readonly error: string | undefined;
  readonly status: number | undefined;
}

/** Judges a turn that an agent CLI ended with an error: by its status, by the class it names, or else by its words. */
export function judgeCliFailure(failure: CliFailure, nowMs: number, cuts: Cuts = PLAIN_CUTS): FailureVerdict {
  const { command, text } = failure;
  const api = apiFailureOf(failure, cuts);
  if (api.status === undefined) {
    if (NOT_LOGGED_IN.test(text)) return { retry: false, error: notLoggedIn(command, text) };
    if (LIMIT_REACHED.test(text)) return { retry: false, error: limitReached(text, nowMs) };
    if (LOST.test(text)) return { retry: true, failure: { message: `${command} reported: ${text}` } };
  }
  if (api.status === 401 || api.status === 403) {
    const verdict = judgeApiFailure(api, nowMs);
    return verdict.retry ? verdict : { retry: false, error: withLogin(verdict.error, command) };
  }
  if (api.status === 429 && LIMIT_REACHED.test(api.message) && /\breset|\|\d{10}\b/i.test(api.message)) {
    return { retry: false, error: limitReached(api.message, nowMs, api.status) };
  }
  return judgeApiFailure(api, nowMs);
}

/** `API Error: 529 {"type":"error","error":{…}}` is how these CLIs tell what the API answered. */
function apiFailureOf({ text, error, status }: CliFailure, cuts: Cuts): ApiFailure {
  const [, told, rest = ''] = /\bAPI Error:?\s*\(?(\d{3})\)?:?\s*([\s\S]*)/i.exec(text) ?? [];
  const body = errorBody(rest);
  return {
    status: status ?? (told === undefined ? STATUS_OF_ERROR[error ?? ''] : Number(told)),
    type: body?.type,
    message: cuts.slice(body?.message ?? (rest.trim() || text), 0, LONGEST_MESSAGE),
  };
}

function errorBody(text: string): { readonly type?: string; readonly message: string } | undefined {
  const start = text.indexOf('{');
  if (start < 0) return undefined;
  try {
    const { error } = JSON.parse(text.slice(start)) as { error?: { type?: unknown; message?: unknown } };
    if (typeof error?.message !== 'string') return undefined;
    return { message: error.message, ...(typeof error.type === 'string' ? { type: error.type } : {}) };
  } catch {
    return undefined;
  }
}

function notLoggedIn(command: string, text: string): WorkflowError {
  return new WorkflowError(
    'AGENT_AUTH',
    `${command} is not logged in: ${text.trim()}. Start ${command} by hand and log in, or set the key it takes in the environment.`,
  );
}

function withLogin(error: WorkflowError, command: string): WorkflowError {
  return new WorkflowError(error.code, `${error.message} ${command} uses its own login: start it by hand to see.`, {
    ...(error.data === undefined ? {} : { data: error.data }),
  });
}

function limitReached(text: string, nowMs: number, status = 429): WorkflowError {
  const verdict = judgeApiFailure({ status, type: 'billing_error', message: text }, nowMs);
  return verdict.retry ? new WorkflowError('AGENT_QUOTA', text) : verdict.error;
}

/** Judges a turn that ended in a result of the wrong kind. */
export function failureOfResult(command: string, line: CliResultLine, error: string | undefined): CliFailure {
  const text = line.text ?? `it ended with ${line.subtype}`;
  return { command, text, error, status: line.apiStatus };
}

/** Judges a process that ended before it gave a result. */
export function judgeCrash(command: string, end: ProcessEnd, nowMs: number): FailureVerdict {
  const { code, signal, failure, lastWords } = end;
  if (failure !== undefined) return { retry: false, error: cannotStart(command, failure) };
  if (lastWords !== '' && (NOT_LOGGED_IN.test(lastWords) || LIMIT_REACHED.test(lastWords) || LOST.test(lastWords))) {
    return judgeCliFailure({ command, text: lastWords, error: undefined, status: undefined }, nowMs);
  }
  const words = lastWords === '' ? 'It said nothing.' : `It said: ${lastWords}`;
  // Killed by someone else: for want of memory, as a rule.
  if (signal !== null) {
    return { retry: true, failure: { message: `${command} was ended by ${signal} before it gave a result. ${words}` } };
  }
  const error = new WorkflowError(
    'AGENT_API',
    `${command} ended with exit code ${code} before it gave a result. ${words}`,
    { data: { exitCode: code, lastText: lastWords } },
  );
  return { retry: false, error };
}

function cannotStart(command: string, failure: NodeJS.ErrnoException): WorkflowError {
  const why = failure.code === 'E2BIG' ? 'its arguments are too long; shorten the schema' : failure.message;
  return new WorkflowError('AGENT_API', `${command} cannot be started: ${why}.`, { cause: failure });
}
