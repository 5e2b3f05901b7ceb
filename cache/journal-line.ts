import { crc32 } from 'node:zlib';
import type { JournalRow } from '../protocol/journal-row.ts';
import type { StoredRow } from '../runtime/ports.ts';

/** What one line of a journal holds. */
export type JournalLine =
  | { readonly kind: 'row'; readonly stored: StoredRow }
  /** Whole, but of a type that this version does not know. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'damaged' };

const CRC_MARK = Buffer.from(',"crc":"');
/** The mark, eight hex digits and `"}`. */
const SEAL_BYTES = CRC_MARK.length + 10;
const RESULT_START = Buffer.from('{"type":"result",');
const RESULT_MARK = Buffer.from(',"result":');

const DAMAGED: JournalLine = { kind: 'damaged' };
const UNKNOWN: JournalLine = { kind: 'unknown' };

/**
 * Reads one line of a journal. The value of a result is cut out as text and not parsed. The CRC stands for the content; the
 * shape is only checked as far as other code relies on it.
 */
export function readJournalLine(buffer: Buffer, start: number, end: number): JournalLine {
  const body = sealedBody(buffer, start, end);
  if (body === undefined) {
    return DAMAGED;
  }
  try {
    return RESULT_START.equals(body.subarray(0, RESULT_START.length))
      ? resultLine(body)
      : otherLine(JSON.parse(`${body.toString()}}`));
  } catch {
    return DAMAGED;
  }
}

/** The bytes before the `crc` member, when they are those that were sealed. */
function sealedBody(buffer: Buffer, start: number, end: number): Buffer | undefined {
  const sealAt = end - SEAL_BYTES;
  if (sealAt <= start || buffer.compare(CRC_MARK, 0, CRC_MARK.length, sealAt, sealAt + CRC_MARK.length) !== 0) {
    return undefined;
  }
  const seal = buffer.toString('latin1', sealAt + CRC_MARK.length, end);
  const body = buffer.subarray(start, sealAt);
  return seal === `${crc32(body).toString(16).padStart(8, '0')}"}` ? body : undefined;
}

function resultLine(body: Buffer): JournalLine {
  const mark = body.indexOf(RESULT_MARK);
  if (mark === -1) {
    return DAMAGED;
  }
  const row = JSON.parse(`${body.toString('utf8', 0, mark)}}`) as JournalRow;
  const resultJson = body.toString('utf8', mark + RESULT_MARK.length);
  return isCall(row) ? { kind: 'row', stored: { row, resultJson } } : DAMAGED;
}

function otherLine(row: JournalRow): JournalLine {
  switch (row.type) {
    case 'launched':
      return Number.isInteger(row.v) ? { kind: 'row', stored: { row } } : DAMAGED;
    case 'started':
      return isCall(row) ? { kind: 'row', stored: { row } } : DAMAGED;
    case 'failed':
      return isCall(row) && typeof row.error?.code === 'string' ? { kind: 'row', stored: { row } } : DAMAGED;
    default:
      return typeof (row as { type?: unknown }).type === 'string' ? UNKNOWN : DAMAGED;
  }
}

function isCall(row: JournalRow): boolean {
  const call = row as { key?: unknown; agentId?: unknown; scope?: unknown };
  return typeof call.key === 'string' && typeof call.agentId === 'string' && typeof call.scope === 'string';
}
