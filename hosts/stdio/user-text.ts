import type { ClientUserMessage } from '../../protocol/stdio-input.ts';

/** Gives the text of a client's message. What is no text is named in its place, since nothing here can read it. */
export function userText({ message: { content } }: ClientUserMessage): string {
  if (typeof content === 'string') return content;
  return content
    .map((block) =>
      block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : `[${block.type} left out]`,
    )
    .join('\n');
}
