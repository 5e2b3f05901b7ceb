import type { ToolContext } from '../../agents/tools/agent-tool.ts';
import { createPermissions, type PermissionOptions } from '../../agents/tools/permissions/permissions.ts';
import type { openCommandSandbox } from '../../agents/tools/shell/command-sandbox.ts';
import { type ShellOptions, ToolHost } from '../../agents/tools/tool-host.ts';
import type { AgentReporter } from '../../runtime/ports.ts';
import { agentRequest } from './agent-request.ts';
import { FakeReporter } from './fake-reporter.ts';

/** What the tools of one agent get, with defaults for what a test does not care about: no sandbox among them. */
export function toolContext(
  cwd: string,
  options: {
    readonly permissions?: PermissionOptions;
    readonly shell?: ShellOptions;
    readonly signal?: AbortSignal;
    readonly report?: AgentReporter;
    readonly openSandbox?: typeof openCommandSandbox;
  } = {},
): ToolContext {
  const {
    permissions,
    shell,
    signal = new AbortController().signal,
    report = new FakeReporter(),
    openSandbox,
  } = options;
  const env = { PATH: process.env['PATH'], HOME: cwd };
  const host = new ToolHost(createPermissions(permissions), { env, sandbox: 'off', ...shell }, openSandbox);
  return { cwd, signal, session: host.openSession(agentRequest('test', { cwd }), report) };
}
