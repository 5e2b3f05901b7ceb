import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAnthropicBackend } from '../../agents/anthropic/anthropic-backend.ts';
import { openProcessBackend } from '../../agents/process/process-backend.ts';
import { createScriptedBackend } from '../../agents/scripted/scripted-backend.ts';
import type { ResponsesFile } from '../../protocol/responses-file.ts';
import type { AgentBackend } from '../../runtime/ports.ts';
import { startFakeApi } from '../support/fake-messages-api.mjs';

/** A backend that gives planned answers, and what its tests need around it. */
export interface PlannedBackend {
  readonly backend: AgentBackend;
  /** Requests that reached the API; undefined where there is none. */
  readonly requests: () => number | undefined;
  /** Connections on which an answer is under way. */
  readonly open: () => number;
  /** What the real API would have refused. */
  readonly refused: () => readonly string[];
  close(): Promise<void>;
}

export interface BackendUnderTest {
  readonly name: string;
  /** It cannot tell how long a server asked to wait. */
  readonly hidesRetryAfter?: true;
  start(file: ResponsesFile): Promise<PlannedBackend>;
}

const scripted: BackendUnderTest = {
  name: 'scripted',
  async start(file) {
    const backend = createScriptedBackend(file);
    return { backend, requests: () => undefined, open: () => 0, refused: () => [], close: () => backend.close() };
  },
};

/** The real SDK over loopback HTTP. */
const anthropic: BackendUnderTest = {
  name: 'anthropic',
  async start(file) {
    const api = await startFakeApi({ rules: file });
    const backend = createAnthropicBackend({ apiKey: 'fake', baseUrl: api.url });
    return {
      backend,
      requests: () => api.stats.requests,
      open: () => api.stats.inFlight,
      refused: () => api.stats.refused,
      async close() {
        await backend.close();
        await api.close();
      },
    };
  },
};

const FAKE_CLI = fileURLToPath(new URL('../support/fake-agent-cli.mjs', import.meta.url));

/** Real processes of a stand-in for an agent CLI, whose requests go over loopback HTTP. */
const agentCli: BackendUnderTest = {
  name: 'process',
  hidesRetryAfter: true,
  async start(file) {
    const api = await startFakeApi({ rules: file });
    const backend = await openProcessBackend({
      name: 'process',
      command: [process.execPath, FAKE_CLI],
      env: { PATH: process.env.PATH, ANTHROPIC_BASE_URL: api.url },
      cwd: process.cwd(),
    });
    return {
      backend,
      requests: () => api.stats.requests,
      open: () => api.stats.inFlight,
      refused: () => api.stats.refused,
      async close() {
        await backend.close();
        await api.close();
      },
    };
  },
};

/** Backends whose answers a test can plan. */
export const PLANNED_BACKENDS: readonly BackendUnderTest[] = [scripted, anthropic, agentCli];

const SIMULATED = new URL('../../agents/simulated/simulated-backend.ts', import.meta.url);

/** Every backend, for what must hold whatever it answers; the plan is only a wish. */
export const ALL_BACKENDS: readonly BackendUnderTest[] = existsSync(SIMULATED)
  ? [...PLANNED_BACKENDS, { name: 'simulated', start: startSimulated }]
  : PLANNED_BACKENDS;

async function startSimulated(): Promise<PlannedBackend> {
  const module = (await import(SIMULATED.href)) as { createSimulatedBackend(): AgentBackend };
  const backend = module.createSimulatedBackend();
  return { backend, requests: () => undefined, open: () => 0, refused: () => [], close: () => backend.close() };
}
