import type { Turn } from './turn.ts';

/** What a tool of the main conversation gives back. */
export interface HostToolResult {
  /** What the model reads. */
  readonly text: string;
  readonly isError: boolean;
  /** The same for a program, shown as `tool_use_result`. */
  readonly structured?: unknown;
}

export interface HostToolCall {
  readonly toolUseId: string;
  readonly turn: Turn;
}

/** A tool that the main conversation may call. `run` may reject; the model then reads the message. */
export interface HostTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input; its root is an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  run(input: unknown, call: HostToolCall): Promise<HostToolResult>;
}
