import { formatValues, readable } from './inspect.ts';
import type { Outbox } from './outbox.ts';
import { freeze } from './primordials.ts';
import { type LogLevel, MAX_LOG_CHARACTERS, MAX_LOG_LINES } from './wire.ts';

/** Writes one line of the run's log. */
export type Log = (level: LogLevel, text: string) => void;

/** Keeps the first lines of a run and the first characters of each, and says what it cut (S-15). */
export function createLogWriter(outbox: Outbox): Log {
  let lines = 0;
  return (level, text) => {
    if (lines > MAX_LOG_LINES) return;
    if (++lines > MAX_LOG_LINES) {
      outbox.urgent(['log', 'warn', `Only the first ${MAX_LOG_LINES} log lines are kept; the rest is dropped.`]);
      return;
    }
    outbox.urgent(['log', level, cut(text)]);
  };
}

function cut(text: string): string {
  if (text.length <= MAX_LOG_CHARACTERS) return text.toWellFormed();
  // A character outside the basic plane has two halves; the cut must not part them.
  const code = text.charCodeAt(MAX_LOG_CHARACTERS - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? MAX_LOG_CHARACTERS - 1 : MAX_LOG_CHARACTERS;
  return `${text.slice(0, end).toWellFormed()}… [${text.length - end} characters cut]`;
}

/** Makes `log(...values)`: any value, made readable (S-15). */
export function createLog(write: Log): (...values: unknown[]) => void {
  return {
    log(...values: unknown[]): void {
      let text = '';
      for (let at = 0; at < values.length; at++) text += (at === 0 ? '' : ' ') + readable(values[at]);
      write('info', text);
    },
  }.log;
}

/** Makes `console`: `log` with a level and printf substitutions (S-15). */
export function createConsole(write: Log): object {
  const line =
    (level: LogLevel) =>
    (...values: unknown[]): void =>
      write(level, formatValues(values));
  const [debug, info, warn, error] = [line('debug'), line('info'), line('warn'), line('error')];
  const methods: Record<string, (...values: unknown[]) => void> = {
    log: (...values) => info(...values),
    info: (...values) => info(...values),
    debug: (...values) => debug(...values),
    warn: (...values) => warn(...values),
    error: (...values) => error(...values),
    trace: (...values) => debug(...values),
    dir: (value) => info(value),
    table: (value) => info(value),
    group: (...values) => (values.length === 0 ? undefined : info(...values)),
    groupEnd: () => {},
    assert: (condition, ...values) => (condition ? undefined : error('Assertion failed', ...values)),
  };
  for (const name in methods) freeze(methods[name]);
  return freeze(methods);
}
