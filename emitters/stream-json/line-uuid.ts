import { createHash } from 'node:crypto';

/**
 * Derives the UUID of a line from its task and number, so that a replayed stream equals the live one. Version 8 of RFC 9562,
 * whose bits are the first 122 of a SHA-256.
 */
export function lineUuid(taskId: string, launch: number, lineNumber: number): string {
  const bytes = createHash('sha256').update(`${taskId}\n${launch}\n${lineNumber}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
