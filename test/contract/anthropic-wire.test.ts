import http from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type AnthropicBackendOptions, createAnthropicBackend } from '../../agents/anthropic/anthropic-backend.ts';
import { isWorkflowError } from '../../protocol/workflow-error.ts';
import type { AgentRequest } from '../../runtime/ports.ts';
import { agentRequest, numberContract } from '../support/agent-request.ts';
import { type FakeApi, type FakeApiOptions, startFakeApi } from '../support/fake-messages-api.mjs';
import { FakeReporter, RetriesUsedUp } from '../support/fake-reporter.ts';
import { waitUntil } from '../support/wait-until.ts';

const apis: FakeApi[] = [];
afterEach(async () => {
  for (const api of apis.splice(0)) {
    expect(api.stats.refused).toEqual([]);
    await api.close();
  }
});

async function startApi(options: FakeApiOptions): Promise<FakeApi> {
  const api = await startFakeApi(options);
  apis.push(api);
  return api;
}

function backendOn(api: FakeApi, options: Partial<AnthropicBackendOptions> = {}) {
  return createAnthropicBackend({ apiKey: 'fake', baseUrl: api.url, ...options });
}

const { signal } = new AbortController();

describe('the anthropic backend on the wire', () => {
  it('sends the first request of many like agents ahead of the others, where there is enough to cache (A-25)', async () => {
    const api = await startApi({ rules: { default: [{ text: 'ok', delayMs: 150 }] } });
    const backend = backendOn(api, { permissions: { mode: 'bypassPermissions' } });
    const prompts = Array.from({ length: 6 }, (_, n) => `task ${n}`);
    await Promise.all(prompts.map((prompt) => backend.run(agentRequest(prompt), signal, new FakeReporter())));
    const [first = 0, ...others] = api.stats.calls.map(({ at }) => at);
    expect(others).toHaveLength(5);
    expect(Math.min(...others) - first).toBeGreaterThanOrEqual(149);
  });

  it('lets all agents ask at once where there is too little to cache (A-25)', async () => {
    const api = await startApi({ rules: { default: [{ never: true }] } });
    const stop = new AbortController();
    const backend = backendOn(api);
    const prompts = Array.from({ length: 6 }, (_, n) => `task ${n}`);
    const runs = prompts.map((prompt) => backend.run(agentRequest(prompt), stop.signal, new FakeReporter()));
    await waitUntil(() => api.stats.inFlight === 6);
    stop.abort();
    expect((await Promise.allSettled(runs)).map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
  });

  it('puts an answer together from pieces of seven bytes (A-25)', async () => {
    const text = '漢字 and 🎉 and a "quote"\n'.repeat(3);
    const rules = [
      { match: 'TEXT', reply: [{ text }] },
      { match: 'NUMBER', reply: [{ raw: '{"n": 12, "note": "漢字"}' }] },
    ];
    const api = await startApi({ rules, chunkBytes: 7 });
    const backend = backendOn(api);
    const plain = await backend.run(agentRequest('TEXT'), signal, new FakeReporter());
    expect(JSON.parse(plain.valueJson)).toBe(text);
    const request = agentRequest('NUMBER', { output: numberContract });
    const structured = await backend.run(request, signal, new FakeReporter());
    expect(structured.valueJson).toBe('{"n": 12, "note": "漢字"}');
  });

  it.each(['connect', 'headers', 'start', 'text', 'tool'])(
    'takes a connection lost at "%s" for transient (A-13)',
    async (cut) => {
      const api = await startApi({ rules: [{ match: 'CUT', reply: [{ cut }, { json: { n: 1 } }] }] });
      const report = new FakeReporter();
      const request = agentRequest('CUT', { output: numberContract });
      const outcome = await backendOn(api).run(request, signal, report);
      expect(outcome).toMatchObject({ valueJson: '{"n":1}', attempts: 1 });
      expect(report.retries).toEqual([{ message: expect.stringContaining(api.url) }]);
      expect(api.stats.requests).toBe(2);
    },
  );

  it.each(['json', 'noise', 'order'])('takes a stream broken by "%s" for transient (A-13)', async (malformed) => {
    const api = await startApi({ rules: [{ match: 'BROKEN', reply: [{ malformed }, { text: 'whole' }] }] });
    const report = new FakeReporter();
    const outcome = await backendOn(api).run(agentRequest('BROKEN'), signal, report);
    expect(outcome.valueJson).toBe('"whole"');
    expect(report.retries).toHaveLength(1);
  });

  it('takes an overloaded_error inside a stream for transient, and other errors there for what they are (A-13)', async () => {
    const api = await startApi({
      rules: [
        { match: 'BUSY', reply: [{ streamError: { type: 'overloaded_error', message: 'busy' } }, { text: 'fine' }] },
        { match: 'BAD', reply: [{ streamError: { type: 'invalid_request_error', message: 'bad words' } }] },
      ],
    });
    const report = new FakeReporter();
    expect((await backendOn(api).run(agentRequest('BUSY'), signal, report)).valueJson).toBe('"fine"');
    expect(report.retries).toEqual([{ message: expect.stringContaining('busy'), status: 529 }]);
    const bad = backendOn(api).run(agentRequest('BAD'), signal, new FakeReporter());
    await expect(bad).rejects.toMatchObject({ code: 'AGENT_API', message: expect.stringContaining('bad words') });
  });

  it('says which address it cannot reach once the retries are used up (A-13)', async () => {
    const api = await startFakeApi();
    await api.close();
    const report = new FakeReporter({ maxRetries: 2 });
    await expect(backendOn(api).run(agentRequest('HELLO'), signal, report)).rejects.toBeInstanceOf(RetriesUsedUp);
    expect(report.retries).toHaveLength(3);
    expect(report.retries[0]?.message).toBe(`The API failed: no connection to ${api.url} (ECONNREFUSED).`);
  });

  it('does what x-should-retry says (A-13)', async () => {
    const api = await startApi({
      rules: [{ match: 'NO', reply: [{ error: { status: 500, message: 'final', shouldRetry: false } }] }],
    });
    const report = new FakeReporter();
    await expect(backendOn(api).run(agentRequest('NO'), signal, report)).rejects.toMatchObject({ code: 'AGENT_API' });
    expect(report.retries).toEqual([]);
  });

  it('closes the socket at once when an agent that gets no answer is aborted (A-18)', async () => {
    const api = await startApi({ rules: [{ match: 'NEVER', reply: [{ never: true }] }] });
    const controller = new AbortController();
    const running = backendOn(api).run(agentRequest('NEVER'), controller.signal, new FakeReporter());
    running.catch(() => {});
    await waitUntil(() => api.stats.inFlight === 1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await waitUntil(() => api.stats.aborted === 1);
    expect(api.stats.inFlight).toBe(0);
  });

  it('closes the socket when it is aborted in the middle of a stream (A-18)', async () => {
    const api = await startApi({ rules: [{ match: 'LATE', reply: [{ text: 'x', lateMs: 600_000 }] }] });
    const controller = new AbortController();
    let began: () => void = () => {};
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const report = new FakeReporter({ onAlive: () => began() });
    const running = backendOn(api).run(agentRequest('LATE'), controller.signal, report);
    running.catch(() => {});
    await beginning;
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await waitUntil(() => api.stats.aborted === 1);
  });

  it('counts a ping as a sign of life (A-14)', async () => {
    const quiet = await startApi({ rules: [{ match: 'WAIT', reply: [{ text: 'x', lateMs: 60 }] }] });
    const pinged = await startApi({ rules: [{ match: 'WAIT', reply: [{ text: 'x', lateMs: 60 }] }], pingMs: 10 });
    const signs = [];
    for (const api of [quiet, pinged]) {
      const report = new FakeReporter();
      await backendOn(api).run(agentRequest('WAIT'), signal, report);
      signs.push(report.signsOfLife);
    }
    expect(signs[1]).toBeGreaterThan(signs[0] ?? 0);
  });

  it('offers StructuredOutput whatever the lists say, and forces no tool (A-5)', async () => {
    const api = await startApi({ rules: [{ match: '', reply: [{ json: { n: 1 } }] }] });
    const run = (options: AgentRequest['options']) =>
      backendOn(api).run(agentRequest('GO', { output: numberContract, options }), signal, new FakeReporter());
    await run({ tools: ['Read'] });
    await run({ disallowedTools: ['StructuredOutput', 'Read'] });
    await run({ agentType: 'Explore', disallowedTools: ['Glob'] });
    expect(api.stats.calls.map(({ tools }) => tools)).toEqual([
      ['Read', 'StructuredOutput'],
      ['Glob', 'Grep', 'StructuredOutput'],
      ['Read', 'Grep', 'StructuredOutput'],
    ]);
    expect(api.stats.calls.every(({ toolChoice }) => toolChoice === undefined)).toBe(true);
  });

  it('keeps what the script wrote out of the system instructions (A-21)', async () => {
    const api = await startApi({});
    const request = agentRequest('SECRET-PROMPT', { label: 'SECRET-LABEL', phase: 'SECRET-PHASE' });
    await backendOn(api).run(request, signal, new FakeReporter());
    expect(api.stats.calls[0]?.systemText).not.toContain('SECRET');
    expect(api.stats.calls[0]?.userText).toBe('SECRET-PROMPT');
  });

  it('resolves aliases, passes other ids through, and lets the call win over the backend (A-25)', async () => {
    const api = await startApi({});
    const backend = backendOn(api, { model: 'my-model-7' });
    await backend.run(agentRequest('GO'), signal, new FakeReporter());
    await backend.run(agentRequest('GO', { options: { model: 'opus' } }), signal, new FakeReporter());
    await backendOn(api).run(agentRequest('GO'), signal, new FakeReporter());
    expect(api.stats.calls.map(({ model }) => model)).toEqual(['my-model-7', 'claude-opus-5-5', 'claude-sonnet-5-5']);
    expect(backend.model).toBe('my-model-7');
  });

  it('sends half a character as U+FFFD, which the API would refuse otherwise', async () => {
    const api = await startApi({});
    const outcome = await backendOn(api).run(agentRequest('half \ud83d'), signal, new FakeReporter());
    expect(outcome.valueJson).toBe('"ok"');
  });

  it('ends every agent with AGENT_AUTH when there is no key, without a request (A-20)', async () => {
    const api = await startApi({});
    const backend = backendOn(api, { apiKey: undefined });
    const rejected = await backend.run(agentRequest('GO'), signal, new FakeReporter()).catch((error: unknown) => error);
    expect(isWorkflowError(rejected) && rejected.code).toBe('AGENT_AUTH');
    expect(api.stats.requests).toBe(0);
  });

  it('keeps connections for the next request (A-25)', async () => {
    const api = await startApi({});
    const ports = new Set<number | undefined>();
    const proxy = http.createServer((req, res) => {
      ports.add(req.socket.remotePort);
      const forward = http.request(`${api.url}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(res);
      });
      req.pipe(forward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as { port: number };
    const backend = createAnthropicBackend({ apiKey: 'fake', baseUrl: `http://127.0.0.1:${port}` });
    for (let i = 0; i < 20; i++) await backend.run(agentRequest(`GO ${i}`), signal, new FakeReporter());
    proxy.closeAllConnections();
    proxy.close();
    expect(ports.size).toBeLessThanOrEqual(3);
  });
});
