import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { foldersUpwards } from './folders-upwards.ts';

const ENV_SWITCHES = ['WF_DISABLE_WORKFLOWS', 'CODEBUDDY_DISABLE_WORKFLOWS', 'CLAUDE_CODE_DISABLE_WORKFLOWS'] as const;
const SETTINGS_FILES = ['.wf/settings.json', '.codebuddy/settings.json', '.claude/settings.json'] as const;

export interface KillSwitchInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDirectory: string;
}

/**
 * Names the switch that turns workflows off on this machine or in this project, or gives undefined. Source: spec H-5.
 * Settings files that are missing or not JSON switch nothing.
 */
export function findKillSwitch({ env, cwd, homeDirectory }: KillSwitchInput): string | undefined {
  for (const name of ENV_SWITCHES) {
    if (/^(1|true|yes|on)$/i.test(env[name] ?? '')) return `the environment variable ${name}=${env[name]}`;
  }
  for (const folder of foldersUpwards(cwd, homeDirectory)) {
    for (const file of SETTINGS_FILES) {
      const path = join(folder, file);
      const member = switchedOffBy(path);
      if (member !== undefined) return `${member} in ${path}`;
    }
  }
  return undefined;
}

function switchedOffBy(path: string): string | undefined {
  try {
    const settings = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown> | null;
    if (settings?.['disableWorkflows'] === true) return '"disableWorkflows": true';
    if (settings?.['enableWorkflows'] === false) return '"enableWorkflows": false';
  } catch {
    // No such file, or none that can be read: it switches nothing.
  }
  return undefined;
}

/** @throws WORKFLOWS_DISABLED naming the switch */
export function refuseWhenDisabled(input: KillSwitchInput): void {
  const found = findKillSwitch(input);
  if (found !== undefined) {
    throw new WorkflowError('WORKFLOWS_DISABLED', `workflows are switched off here by ${found}; remove it to run them`);
  }
}
