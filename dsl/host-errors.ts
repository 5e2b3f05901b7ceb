import { defineProperty } from './primordials.ts';
import type { HostErrorData } from './wire.ts';

interface Origin {
  readonly code: string;
  readonly passesThrough: boolean;
}

/** Errors that the runtime gave the script, so that they are known again wherever they surface. */
const origins = new WeakMap<object, Origin>();

/** Members that error data may not replace. */
const FIXED = ['name', 'message', 'stack', 'code', 'cause', '__proto__', 'constructor'];

/** Rebuilds an error of the host as one of this realm (S-20). */
export function makeHostError(data: HostErrorData): Error {
  const error = data.name === 'TypeError' ? new TypeError(data.message) : new Error(data.message);
  if (data.name === 'WorkflowError') {
    defineProperty(error, 'name', { value: 'WorkflowError', writable: true, configurable: true });
  }
  define(error, 'code', data.code);
  for (const key in data.data) if (!FIXED.includes(key)) define(error, key, data.data[key]);
  origins.set(error, { code: data.code, passesThrough: data.passesThrough === true });
  return error;
}

/** An error of a limit that the guest itself watches. */
export function makeLimitError(code: string, message: string, passesThrough: boolean): Error {
  return makeHostError({ name: 'WorkflowError', code, message, passesThrough });
}

/** Where an error came from; undefined when the script made it. */
export function originOf(error: unknown): Origin | undefined {
  return typeof error === 'object' && error !== null ? origins.get(error) : undefined;
}

function define(error: Error, key: string, value: unknown): void {
  defineProperty(error, key, { value, writable: true, enumerable: true, configurable: true });
}
