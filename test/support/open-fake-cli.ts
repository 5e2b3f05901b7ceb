import { fileURLToPath } from 'node:url';
import { openProcessBackend, type ProcessBackendOptions } from '../../agents/process/process-backend.ts';
import type { ResponsesFile } from '../../protocol/responses-file.ts';
import { startFakeApi } from './fake-messages-api.mjs';

export const FAKE_CLI = fileURLToPath(new URL('./fake-agent-cli.mjs', import.meta.url));

/** A backend over the stand-in for an agent CLI, and the API that it asks. @param mode how the stand-in misbehaves */
export async function openFakeCli(
  mode: string,
  file: ResponsesFile = { default: [{ text: 'done' }] },
  { env = {}, ...options }: Partial<ProcessBackendOptions> = {},
) {
  const api = await startFakeApi({ rules: file });
  const backend = await openProcessBackend({
    name: 'process',
    command: [process.execPath, FAKE_CLI, '--fake', mode],
    env: { PATH: process.env.PATH, ANTHROPIC_BASE_URL: api.url, ...env },
    cwd: process.cwd(),
    ...options,
  });
  return {
    backend,
    api,
    async close() {
      await backend.close();
      await api.close();
    },
  };
}
