import { escapeLineSeparators } from '../../emitters/stream-json/task-lines.ts';
import type { Redactor } from '../../runtime/ports.ts';

/** Writes the lines of the host that are not those of a task. */
export interface HostLines {
  /** A line of the session: gets a uuid and the session's id, and loses secrets. */
  say(fields: Readonly<Record<string, unknown>>): void;
  /** A line of the session that a slow reader may miss. */
  mention(fields: Readonly<Record<string, unknown>>): void;
  /** A control line, which belongs to no session. */
  control(fields: Readonly<Record<string, unknown>>): void;
}

export interface HostLinesOptions {
  readonly sessionId: string;
  readonly redactor: Redactor;
  readonly newUuid: () => string;
  /** Takes a line without its line feed. A critical one must reach the reader, in order. */
  readonly write: (line: string, critical: boolean) => void;
  /** Sees what is said, secrets taken out, before it is written. */
  readonly onSay?: (line: Readonly<Record<string, unknown>>) => void;
}

export function createHostLines({ sessionId, redactor, newUuid, write, onSay }: HostLinesOptions): HostLines {
  const send = (line: Readonly<Record<string, unknown>>, critical = true): void =>
    write(escapeLineSeparators(JSON.stringify(line, wellFormed)), critical);
  const ofSession = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
    ...redactor.json(fields),
    uuid: newUuid(),
    session_id: sessionId,
  });
  return {
    say(fields) {
      const line = ofSession(fields);
      onSay?.(line);
      send(line);
    },
    mention: (fields) => send(ofSession(fields), false),
    control: (fields) => send(redactor.json(fields)),
  };
}

/** Half a character is no UTF-8; a strict reader would refuse the whole line. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
