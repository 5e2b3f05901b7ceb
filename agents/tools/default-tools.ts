import type { AgentTool } from './agent-tool.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { readTool } from './read.ts';

/** Tools every agent has unless its call or its type says otherwise; all of them read only. Source: spec A-25. */
export const DEFAULT_TOOLS: readonly AgentTool[] = [readTool, globTool, grepTool];
