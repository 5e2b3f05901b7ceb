import { authorPlace } from './author-files.ts';
import { defineProperty, isArray } from './primordials.ts';

/** The engine's description of a stack frame. Never given to a script: it would hand out receivers and functions. */
interface CallSite {
  getFileName(): unknown;
  getLineNumber(): unknown;
  getColumnNumber(): unknown;
  toString(): string;
}

const FRAMES_KEPT = 20;

/**
 * Makes `error.stack` show the author's frames only (S-8, S-20).
 *
 * The engine asks `Error.prepareStackTrace` when a stack is first read; this one is permanent, so that a script can
 * neither see frames of the prelude nor hold a call site.
 */
export function tameErrors(): void {
  const prepare = {
    prepareStackTrace(error: unknown, sites: unknown): string {
      let text = headline(error);
      let kept = 0;
      if (!isArray(sites)) return text;
      for (let at = 0; at < sites.length && kept < FRAMES_KEPT; at++) {
        const line = describeSite(sites[at] as CallSite);
        if (line === undefined) continue;
        text += `\n    at ${line}`;
        kept++;
      }
      return text;
    },
  };
  defineProperty(Error, 'prepareStackTrace', {
    value: prepare.prepareStackTrace,
    writable: false,
    configurable: false,
  });
  // More than the engine's ten: frames of the prelude between the author's are not shown but count.
  defineProperty(Error, 'stackTraceLimit', { value: 25, writable: false, configurable: false });
}

/** A frame of the author's as the engine writes it, at its place in the author's text; undefined for other frames. */
function describeSite(site: CallSite): string | undefined {
  const name = site.getFileName();
  const line = site.getLineNumber();
  const column = site.getColumnNumber();
  const place = authorPlace(name, line, column);
  if (place === undefined) return undefined;
  return site.toString().replace(`${String(name)}:${String(line)}:${String(column)}`, () => {
    return `${place.file}:${place.line}:${place.column}`;
  });
}

function headline(error: unknown): string {
  try {
    const { name, message } = error as { name: unknown; message: unknown };
    const text = String(message);
    return text === '' ? String(name) : `${String(name)}: ${text}`;
  } catch {
    return 'Error';
  }
}
