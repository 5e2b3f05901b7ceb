import type { FailedRow, LaunchedRow, StartedRow } from '../../../protocol/journal-row.ts';
import type { ResultRowHead } from '../../../runtime/ports.ts';

/** Rows of a made-up run; `n` tells the calls apart. */
export function keyOf(n: number): string {
  return `v1:${n.toString(16).padStart(64, '0')}`;
}

export function agentIdOf(n: number): string {
  return `a${n.toString(16).padStart(16, '0')}`;
}

export function launchedRow(over: Partial<LaunchedRow> = {}): LaunchedRow {
  return {
    type: 'launched',
    v: 1,
    runId: 'wf_0123abcd-ef0',
    launch: 1,
    scriptSha256: 'ab',
    argsSha256: null,
    limits: { maxAgents: 1000, timeoutMs: null },
    wfVersion: '0.1.0',
    nodeVersion: 'v24.0.0',
    at: 1_750_000_000_000,
    ...over,
  };
}

export function startedRow(n: number, over: Partial<StartedRow> = {}): StartedRow {
  return {
    type: 'started',
    key: keyOf(n),
    agentId: agentIdOf(n),
    scope: `/parallel:0/item:${n}`,
    label: `agent ${n}`,
    phase: 'Review',
    attempt: 1,
    at: 1_750_000_000_000 + n,
    ...over,
  };
}

export function resultHead(n: number, over: Partial<ResultRowHead> = {}): ResultRowHead {
  return {
    type: 'result',
    key: keyOf(n),
    agentId: agentIdOf(n),
    scope: `/parallel:0/item:${n}`,
    usage: { input_tokens: n, output_tokens: 2 * n, tool_uses: 0 },
    attempts: 1,
    at: 1_750_000_001_000 + n,
    ...over,
  };
}

export function failedRow(n: number, over: Partial<FailedRow> = {}): FailedRow {
  return {
    type: 'failed',
    key: keyOf(n),
    agentId: agentIdOf(n),
    scope: `/parallel:0/item:${n}`,
    error: { code: 'AGENT_API', message: 'the server said "no"\nand closed' },
    at: 1_750_000_002_000 + n,
    ...over,
  };
}
