import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentIdOf, callKey, canonicalOptions } from '../../../../runtime/calls/call-key.ts';

const VECTORS: readonly [string, Record<string, unknown>, number, string][] = [
  ['hello', {}, 0, 'v1:d0d1331b44bad4bcfd8b57e87eaa3058b354015cbec74269fe153c11b61d1e11'],
  ['hello', {}, 1, 'v1:ed19c347175cd056140bed03dac5325e2ba7e209dd671234c411f63d76001a27'],
  [
    'Grüße 😀\nline 2',
    {
      schema: { type: 'object', required: ['n'], properties: { n: { type: 'number', minimum: 0.5 } } },
      model: 'haiku',
    },
    0,
    'v1:fe521663ae92e4494a0741991dd22540919d27a3ac8b15c65922549c94d79dd6',
  ],
  [
    'p',
    { tools: ['Read', 'Bash'], maxTurns: 3, isolation: 'worktree', effort: 'high', agentType: 'Explore' },
    2,
    'v1:b56c14c268bf1bfa1806e1b855aac1a7cbb9d495b0d71e9ba660396c66b399bd',
  ],
];

describe('callKey', () => {
  it.each(VECTORS)('gives the published key of %j (R-1, R-2)', (prompt, options, occurrence, key) => {
    expect(callKey(prompt, canonicalOptions(options), occurrence)).toBe(key);
  });

  it('hashes the same text as the canonical JSON library would make of the whole call (R-1)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(9), (prompt, occurrence) => {
        const whole = canonicalize({ v: 1, prompt, opts: {}, occurrence }) as string;
        expect(whole).toBe(`{"occurrence":${occurrence},"opts":{},"prompt":${JSON.stringify(prompt)},"v":1}`);
      }),
    );
  });

  it('shortens a key to an id that is safe in file names (R-3)', () => {
    expect(agentIdOf('v1:d0d1331b44bad4bcfd8b57e87eaa3058')).toBe('ad0d1331b44bad4bc');
  });
});
