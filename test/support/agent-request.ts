import { tmpdir } from 'node:os';
import type { AgentRequest, OutputContract } from '../../runtime/ports.ts';

let made = 0;

/** A request with a key of its own, and defaults for what a test does not care about. */
export function agentRequest(prompt: string, changes: Partial<AgentRequest> = {}): AgentRequest {
  made += 1;
  const id = made.toString(16);
  return {
    key: `v1:${id.padStart(64, '0')}`,
    agentId: `a${id.padStart(16, '0')}`,
    prompt,
    label: prompt.slice(0, 60),
    phase: null,
    options: {},
    output: undefined,
    maxStructuredOutputRetries: 5,
    cwd: tmpdir(),
    ...changes,
  };
}

/** A contract that wants an object with a number `n`, judged without a schema library. */
export const numberContract: OutputContract = {
  wireSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  wrapped: false,
  judge(rawJson, truncated) {
    let value: unknown;
    try {
      value = JSON.parse(rawJson);
    } catch {
      const message = truncated === true ? 'cut off by the output limit' : 'broken JSON';
      return { ok: false, message, errors: [message] };
    }
    const n = (value as { n?: unknown } | null)?.n;
    if (typeof n === 'number') return { ok: true, valueJson: rawJson };
    return { ok: false, message: '/n must be a number', errors: ['/n must be a number'] };
  },
  accepts: () => true,
};

/** The same for a root that is a list of numbers, which travels wrapped. */
export const listContract: OutputContract = {
  wireSchema: {
    type: 'object',
    properties: { value: { type: 'array', items: { type: 'number' } } },
    required: ['value'],
  },
  schema: { type: 'array', items: { type: 'number' } },
  wrapped: true,
  judge(rawJson) {
    const { value } = JSON.parse(rawJson) as { value?: unknown };
    if (Array.isArray(value)) return { ok: true, valueJson: JSON.stringify(value) };
    return { ok: false, message: '/value must be a list', errors: ['/value must be a list'] };
  },
  accepts: () => true,
};
