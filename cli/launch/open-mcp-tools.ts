import { createMcpTools, type McpTools } from '../../agents/tools/mcp-tools.ts';
import { createRedactor, secretValuesOf } from '../../runtime/redact.ts';
import { WF_VERSION } from '../../runtime/version.ts';
import type { CliContext } from '../cli-context.ts';

export interface McpToolsPlace {
  /** Folder whose `.mcp.json` counts; absolute. */
  readonly cwd: string;
  readonly env: CliContext['env'];
  /** Told what a person should know: a server that cannot be used. */
  readonly note?: ((text: string) => void) | undefined;
  /** Texts or files of `--mcp-config`. */
  readonly given?: readonly string[] | undefined;
  /** With `--strict-mcp-config`: `.mcp.json` does not count. */
  readonly onlyGiven?: boolean | undefined;
}

/** Opens the tools of MCP servers; none is started before it is wanted. */
export function openMcpTools({ cwd, env, note, given = [], onlyGiven = false }: McpToolsPlace): McpTools {
  return createMcpTools({
    cwd,
    env,
    given,
    onlyGiven,
    version: WF_VERSION,
    cuts: createRedactor(secretValuesOf(env)),
    ...(note === undefined ? {} : { onWarning: note }),
  });
}
