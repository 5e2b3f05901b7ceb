import { resolve } from 'node:path';
import type { AgentBackend } from '../runtime/ports.ts';
import type { CliContext } from './cli-context.ts';
import { readTextFile } from './read-text-file.ts';
import type { BackendName, RunFlags } from './run-flags.ts';

/** Makes the chosen backend; only its own code is loaded. @throws FILE_… and USAGE_INVALID for a bad `--responses` */
export async function createBackend(
  name: BackendName,
  flags: Pick<RunFlags, 'responses' | 'model'>,
  { env, cwd }: Pick<CliContext, 'env' | 'cwd'>,
): Promise<AgentBackend> {
  switch (name) {
    case 'scripted': {
      const path = resolve(cwd, flags.responses ?? '');
      const text = await readTextFile(path, 'the file of --responses');
      const { createScriptedBackend } = await import('../agents/scripted/scripted-backend.ts');
      const { loadResponsesFile } = await import('../agents/scripted/load-responses-file.ts');
      return createScriptedBackend(loadResponsesFile(text, path));
    }
    case 'simulated': {
      const { createSimulatedBackend } = await import('../agents/simulated/simulated-backend.ts');
      return createSimulatedBackend();
    }
    case 'anthropic': {
      const { createAnthropicBackend } = await import('../agents/anthropic/anthropic-backend.ts');
      return createAnthropicBackend({ env, ...(flags.model === undefined ? {} : { model: flags.model }) });
    }
  }
}
