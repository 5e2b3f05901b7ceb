import type { AgentTool } from './agent-tool.ts';
import { editTool } from './files/edit.ts';
import { globTool } from './files/glob.ts';
import { grepTool } from './files/grep.ts';
import { readTool } from './files/read.ts';
import { writeTool } from './files/write.ts';
import { bashTool } from './shell/bash.ts';
import { bashOutputTool } from './shell/bash-output.ts';

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
