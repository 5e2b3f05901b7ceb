import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Gives the key of a call: `v1:` and the SHA-256 of its canonical JSON (RFC 8785). Source: spec R-1.
 *
 * @param canonicalOptions canonical JSON of the options that count, from {@link canonicalOptions}
 * @param prompt well-formed Unicode
 * @param occurrence tells calls of the same content apart, from 0
 */
export function callKey(prompt: string, canonicalOptions: string, occurrence: number): string {
  // Members in canonical order. `JSON.stringify` of a well-formed string is its canonical form (RFC 8785, 3.2.2.2).
  const text = `{"occurrence":${occurrence},"opts":${canonicalOptions},"prompt":${JSON.stringify(prompt)},"v":1}`;
  return `v1:${hash('sha256', text, 'hex')}`;
}

/** Canonical JSON of the options that are part of a key. */
export function canonicalOptions(options: Readonly<Record<string, unknown>>): string {
  return canonicalize(options) as string;
}

/** The short form of a key that is safe in file names: `a` and the first 16 hex digits. */
export function agentIdOf(key: string): string {
  return `a${key.slice(3, 19)}`;
}
