import { findJsonFault, nestsDeeperThan } from './find-json-fault.ts';

/** Bounds on an answer (A-7). */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
export const MAX_ANSWER_DEPTH = 64;

export type ParsedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Parses an answer within its bounds; a fault is told with its offset (A-6). Never throws. */
export function parseAnswer(text: string, maxDepth: number, truncated: boolean): ParsedAnswer {
  if (text.length > MAX_ANSWER_BYTES || Buffer.byteLength(text) > MAX_ANSWER_BYTES) {
    return { ok: false, message: `The answer is larger than ${MAX_ANSWER_BYTES} bytes. Give a smaller one.` };
  }
  if (nestsDeeperThan(text, maxDepth)) {
    return { ok: false, message: `The answer is nested more than ${MAX_ANSWER_DEPTH} deep. Give a flatter one.` };
  }
  try {
    const value: unknown = JSON.parse(text);
    const infinite = holdsInfinity(value);
    return infinite
      ? { ok: false, message: 'The answer holds a number that is too large for JSON.' }
      : { ok: true, value };
  } catch {
    return { ok: false, message: describeFault(text, truncated) };
  }
}

/** A literal such as 1e999 parses, but no JSON text could give it back. */
function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}

function describeFault(text: string, truncated: boolean): string {
  const { offset, reason } = findJsonFault(text) ?? { offset: text.length, reason: 'it could not be read' };
  const near = text.slice(Math.max(0, offset - 20), offset + 20);
  const place = `at offset ${offset}${near === '' ? '' : `, near ${JSON.stringify(near)}`}`;
  if (!truncated) return `The answer is not valid JSON: ${reason} (${place}). Send it again as valid JSON.`;
  return (
    `The answer was cut off by the output limit after ${text.length} characters, so it is not valid JSON: ${reason} (${place}). ` +
    'Give a shorter answer.'
  );
}
