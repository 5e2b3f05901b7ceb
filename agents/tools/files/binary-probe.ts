/** How many bytes of a file {@link looksBinary} needs to see. */
export const PROBE_BYTES = 8_192;

/** Tells whether the start of a file holds a NUL byte, as text does not. */
export function looksBinary(start: Uint8Array): boolean {
  return start.subarray(0, PROBE_BYTES).includes(0);
}
