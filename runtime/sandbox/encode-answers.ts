import type { SandboxAnswer } from './sandbox.ts';

/** One answer as JSON text of a `HostAnswer` (`dsl/wire.ts`). The value's own JSON is put in as it is, not quoted again. */
export function encodeAnswer(id: number, answer: SandboxAnswer, spent: number | null): string {
  if (!answer.ok) return escapeLoneSurrogates(JSON.stringify(['no', id, answer.error, spent]));
  return `["ok",${id},${onOneLine(escapeLoneSurrogates(answer.valueJson))},${spent}]`;
}

/** A raw line end is white space between JSON's tokens, and would end the line on the wire. */
function onOneLine(json: string): string {
  return /[\n\r]/.test(json) ? json.replace(/[\n\r]/g, ' ') : json;
}

/** UTF-8 has no lone surrogates; inside a JSON string an escape says the same. */
function escapeLoneSurrogates(json: string): string {
  if (json.isWellFormed()) return json;
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
