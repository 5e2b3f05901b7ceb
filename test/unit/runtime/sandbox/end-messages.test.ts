import { describe, expect, it } from 'vitest';
import { endOfProcess } from '../../../../runtime/sandbox/end-messages.ts';

const OPTIONS = { memoryLimitMb: 64, cpuLimitMs: 500, maxItems: 10, budgetTotal: null, maxDepth: 1 };

describe('a sandbox process that ends without a word', () => {
  it('ran out of memory when the engine aborted, on any system (S-23)', () => {
    const aborts = [
      ...(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'] as const).map((signal) => [null, signal] as const),
      ...[134, 0x80000003, 0xc0000005].map((code) => [code, null] as const),
    ];
    for (const [code, signal] of aborts) {
      expect(endOfProcess(code, signal, OPTIONS)).toMatchObject({ type: 'limit', code: 'LIMIT_MEMORY' });
    }
  });

  it('has crashed in every other case, and before it had a script', () => {
    const ends = [
      endOfProcess(1, null, OPTIONS),
      endOfProcess(null, 'SIGKILL', OPTIONS),
      endOfProcess(null, 'SIGABRT', undefined),
    ];
    expect(ends.map(({ type }) => type)).toEqual(['crashed', 'crashed', 'crashed']);
    expect(JSON.stringify(ends)).toMatch(/exit code 1.*SIGKILL.*memory.*SIGABRT/s);
  });
});
