import type { TranscriptRow } from '../../runtime/ports.ts';

/** A part of an assistant's message in a transcript of ours. */
export type TranscriptBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly rawInput: string }
  | { readonly type: 'other'; readonly block: Readonly<Record<string, unknown>> };

type Fields = Readonly<Record<string, unknown>>;

/** Reads the blocks of an assistant's row. A row that has a value in their place, as of an agent without a model, is one text. */
export function blocksOf(row: TranscriptRow): readonly TranscriptBlock[] {
  if (!Array.isArray(row['blocks'])) {
    if (row['value'] === undefined) return [];
    const { value } = row;
    return [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }];
  }
  return row['blocks'].map((block: Fields) => {
    const { type, text, id, name, rawInput } = block;
    if (type === 'text') return { type, text: String(text ?? '') };
    if (type !== 'tool_use') return { type: 'other', block };
    return { type, id: String(id ?? ''), name: String(name ?? ''), rawInput: String(rawInput ?? '{}') };
  });
}

/** Tokens of a row, as far as it tells. */
export function usageOf(row: TranscriptRow): { readonly inputTokens: number; readonly outputTokens: number } {
  const usage = (row['usage'] ?? {}) as Fields;
  return { inputTokens: Number(usage['inputTokens'] ?? 0), outputTokens: Number(usage['outputTokens'] ?? 0) };
}

/** The text of a field, empty where there is none. */
export function textOf(row: TranscriptRow, field: string): string {
  const value = row[field];
  return typeof value === 'string' ? value : '';
}
