import type { AgentTool } from './agent-tool.ts';
import { bashTool } from './bash.ts';
import { bashOutputTool } from './bash-output.ts';
import { editTool } from './edit.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

/**
 * Tools every agent has unless its call, its type or its permissions say otherwise. Those that only read come first, so
 * that agents with few permissions and agents with many share the beginning of what a provider caches. Source: spec A-25.
 */
export const DEFAULT_TOOLS: readonly AgentTool[] = [
  readTool,
  globTool,
  grepTool,
  editTool,
  writeTool,
  bashTool,
  bashOutputTool,
];
