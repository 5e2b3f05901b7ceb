import { crc32 } from 'node:zlib';
import type { JournalRow } from '../protocol/journal-row.ts';
import type { ResultRowHead } from '../runtime/ports.ts';
import { type ByteQueue, bytesAtMost, type Chunk } from './byte-queue.ts';

const CRC_MARK = ',"crc":"';
const RESULT_MARK = ',"result":';
/** The mark, eight hex digits, `"}` and a newline. */
const SEAL_BYTES = CRC_MARK.length + 11;

/** Puts a row in line: its JSON with the `crc` of the bytes before it as last member. */
export function pushRow(queue: ByteQueue, row: Exclude<JournalRow, { type: 'result' }>): void {
  const json = JSON.stringify(row);
  const chunk = queue.room(bytesAtMost(json) + SEAL_BYTES);
  const start = chunk.used;
  chunk.used += chunk.bytes.write(json, start) - 1;
  seal(chunk, start);
}

/**
 * The same for a result. `type` is the first member, whatever the order of the caller's, `result` the last one before
 * `crc`, and no member before it has a member of that name, so that a reader cuts the text of the result out without
 * parsing it.
 */
export function pushResultRow(queue: ByteQueue, head: ResultRowHead, resultJson: string): void {
  const headJson = typeFirst(head);
  const line = oneWellFormedLine(resultJson);
  const chunk = queue.room(bytesAtMost(headJson) + RESULT_MARK.length + bytesAtMost(line) + SEAL_BYTES);
  const start = chunk.used;
  chunk.used += chunk.bytes.write(headJson, start) - 1;
  chunk.used += chunk.bytes.write(RESULT_MARK, chunk.used, 'latin1');
  chunk.used += chunk.bytes.write(line, chunk.used);
  seal(chunk, start);
}

function typeFirst(head: ResultRowHead): string {
  const json = JSON.stringify(head);
  if (json.startsWith('{"type":')) return json;
  const { type, ...members } = head;
  return JSON.stringify({ type, ...members });
}

function seal(chunk: Chunk, start: number): void {
  const crc = crc32(chunk.bytes.subarray(start, chunk.used));
  chunk.used += chunk.bytes.write(CRC_MARK, chunk.used, 'latin1');
  for (let shift = 28; shift >= 0; shift -= 4) {
    const digit = (crc >>> shift) & 15;
    chunk.bytes[chunk.used] = digit < 10 ? 48 + digit : 87 + digit;
    chunk.used += 1;
  }
  chunk.used += chunk.bytes.write('"}\n', chunk.used, 'latin1');
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A raw newline in JSON text is only ever white space; a lone surrogate would not survive UTF-8, its escape does. */
function oneWellFormedLine(json: string): string {
  const line = json.includes('\n') ? json.replaceAll('\n', ' ') : json;
  return line.isWellFormed() ? line : line.replace(LONE_SURROGATE, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
