import { defineProperty, isArray } from './primordials.ts';

/** The engine's description of a stack frame. Never given to a script: it would hand out receivers and functions. */
interface CallSite {
  getFileName(): unknown;
  toString(): string;
}

const FRAMES_KEPT = 20;

/**
 * Makes `error.stack` show the author's frames only (S-8, S-20).
 *
 * The engine asks `Error.prepareStackTrace` when a stack is first read; this one is permanent, so that a script can
 * neither see frames of the prelude nor hold a call site.
 */
export function tameErrors(isAuthorFile: (name: unknown) => boolean): void {
  const prepare = {
    prepareStackTrace(error: unknown, sites: unknown): string {
      let text = headline(error);
      let kept = 0;
      if (!isArray(sites)) return text;
      for (let at = 0; at < sites.length && kept < FRAMES_KEPT; at++) {
        const site = sites[at] as CallSite;
        if (!isAuthorFile(site.getFileName())) continue;
        text += `\n    at ${site.toString()}`;
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

function headline(error: unknown): string {
  try {
    const { name, message } = error as { name: unknown; message: unknown };
    const text = String(message);
    return text === '' ? String(name) : `${String(name)}: ${text}`;
  } catch {
    return 'Error';
  }
}
