import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRunStore } from '../../../../cache/run-store.ts';
import { HostRuns } from '../../../../hosts/host-runs/host-runs.ts';
import { hostTools } from '../../../../hosts/mcp/host-tools.ts';
import { defineMcpTool, type McpTool } from '../../../../hosts/mcp/mcp-tool.ts';
import { resultMember } from '../../../../hosts/mcp/result-member.ts';
import { openInProcessMcp, type RpcAnswer } from '../../../support/in-process-mcp.ts';
import { type HostState, script } from '../../../support/mcp-server.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const stateOf = ({ result }: RpcAnswer): HostState => (result?.structuredContent ?? {}) as unknown as HostState;
const textOf = ({ result }: RpcAnswer): string => result?.content?.[0]?.text ?? '';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-mcp-unit-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

function hostRuns(): readonly McpTool[] {
  const place = { cwd: root, homeDirectory: join(root, 'home') };
  const runs = new HostRuns({ store: createRunStore({ root: join(root, 'state') }), ...place });
  return hostTools({ runs, place, teach: false });
}

/** A tool that waits for its caller to go, and one that says what it was given. */
function probes(): { tools: readonly McpTool[]; aborted: string[] } {
  const aborted: string[] = [];
  const output = z.looseObject({ got: z.unknown() });
  const wait = defineMcpTool({
    name: 'wait',
    title: 'Wait',
    description: 'Waits until the client cancels.',
    input: z.strictObject({}),
    output,
    changes: 'nothing',
    call: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push('wait');
          resolve({ structured: { got: 'nothing' } });
        });
      }),
  });
  const echo = defineMcpTool({
    name: 'echo',
    title: 'Echo',
    description: 'Gives back what it was given.',
    input: z.strictObject({ value: z.unknown() }),
    output,
    changes: 'nothing',
    call: async ({ value }) => ({ structured: { got: value } }),
  });
  return { tools: [wait, echo], aborted };
}

describe('bad input of an MCP client', () => {
  it('deep JSON is refused with a way out by every tool, and the step still waits (H-13, H-14, C-10)', async () => {
    const mcp = await openInProcessMcp(hostRuns());
    const source = JSON.stringify(script(`return agent('x')`));
    const started = await mcp.call('wf_start', `{"script":${source}}`);
    const { runId, pending } = stateOf(started);
    const step = `"runId":"${runId}","stepId":"${pending[0]?.stepId}"`;
    for (const levels of [1_001, 5_000, 200_000]) {
      const deep = nested(levels);
      const answers = await Promise.all([
        mcp.call('wf_continue', `{${step},"result":{"status":"success","output":${deep}}}`),
        mcp.call('wf_start', `{"script":${source},"args":${deep}}`),
        mcp.call('wf_status', `{"runId":${deep}}`),
        mcp.call('wf_cancel', `{"nobody knows":${deep}}`),
      ]);
      for (const answer of answers) {
        expect(answer.result?.isError).toBe(true);
        expect(textOf(answer)).toMatch(/more than 1,000 levels deep.*Give flatter JSON.*\[USAGE_INVALID\]/);
      }
    }
    const taken = await mcp.call('wf_continue', `{${step},"result":{"status":"success","output":${nested(900)}}}`);
    expect(taken.result?.structuredContent).toMatchObject({ status: 'completed', result: nested(900) });
  });

  it('a result that is too deep for a message is left in its file (H-10)', () => {
    expect(resultMember(nested(900))).toHaveProperty('result');
    expect(resultMember(nested(3_000))).toEqual({ resultOmitted: true });
  });

  it('lines that are no message are skipped or answered, 10 MB ones are taken, and the next is served (H-10)', async () => {
    const mcp = await openInProcessMcp(probes().tools);
    for (const line of ['not json', '42', '[]', 'null', '{"jsonrpc":"2.0"}', '[['.repeat(50_000), '\u0000\uFFFD', ''])
      mcp.input.write(`${line}\n`);
    mcp.input.write('{"jsonrpc":"1.0","id":7,"method":"tools/list"}\n');
    mcp.input.write(
      '{"jsonrpc":"2.0","id":8,"method":"make/coffee"}\n{"jsonrpc":"2.0","method":"notifications/odd"}\n',
    );
    mcp.input.write(Buffer.from([0xff, 0xfe, 0x0a]));
    const large = 'y'.repeat(10_000_000);
    expect((await mcp.call('echo', `{"value":"${large}"}`)).result?.structuredContent).toEqual({ got: large });
    expect(await mcp.answer(7)).toMatchObject({ error: { code: -32_600 } });
    expect(await mcp.answer(8)).toMatchObject({ error: { code: -32_601 } });
    expect(mcp.notices).toHaveLength(9);
  });

  it('a client that is gone in the middle of a call aborts it, and the server ends once (H-10)', async () => {
    const { tools, aborted } = probes();
    const mcp = await openInProcessMcp(tools);
    void mcp.call('wait', '{}');
    await mcp.call('echo', '{"value":1}');
    mcp.input.end();
    await mcp.service.closed;
    await waitUntil(() => aborted.length > 0);
    expect(aborted).toEqual(['wait']);
  });

  it('a client that does not read any more ends the server, and no error escapes (H-10, E-3)', async () => {
    const { tools, aborted } = probes();
    const mcp = await openInProcessMcp(tools);
    void mcp.call('wait', '{}');
    await mcp.call('echo', '{"value":1}');
    mcp.output.destroy(new Error('EPIPE'));
    await mcp.service.closed;
    expect(aborted).toEqual(['wait']);
  });

  it('two servers on one state directory do not take each other’s runs, and go on with what is left (H-15, H-16)', async () => {
    const [one, other] = await Promise.all([openInProcessMcp(hostRuns()), openInProcessMcp(hostRuns())]);
    const source = JSON.stringify(script(`return agent('x')`));
    const [mine, theirs] = await Promise.all([one, other].map((mcp) => mcp.call('wf_start', `{"script":${source}}`)));
    const [a, b] = [mine, theirs].map((answer) => stateOf(answer as RpcAnswer)) as [HostState, HostState];
    expect(a.runId).not.toBe(b.runId);
    const hand = (state: HostState, of = state): string =>
      `{"runId":"${state.runId}","stepId":"${of.pending[0]?.stepId}","result":{"status":"success","output":"done"}}`;
    expect(textOf(await other.call('wf_continue', hand(a)))).toContain('[REPLAY_RUN_LIVE]');
    expect(textOf(await one.call('wf_continue', hand(a, b)))).toMatch(/belongs to the run.*\[STEP_UNKNOWN\]/);
    for (const [mcp, state] of [
      [one, a],
      [other, b],
    ] as const)
      expect(stateOf(await mcp.call('wf_continue', hand(state)))).toMatchObject({
        status: 'completed',
        result: 'done',
      });
    expect(stateOf(await other.call('wf_status', `{"runId":"${a.runId}"}`))).toMatchObject({ status: 'completed' });
    expect(textOf(await other.call('wf_continue', hand(b).replace('done', 'else')))).toContain('[STEP_ENDED]');
  });
});
