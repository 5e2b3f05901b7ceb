import { preview } from '../../protocol/preview.ts';

const LABEL_CHARACTERS = 60;

/** The label of a call that gives none: the first characters of its prompt, white space folded. Source: spec A-1. */
export function defaultLabel(prompt: string): string {
  const start = prompt.length > 400 ? prompt.slice(0, 400) : prompt;
  const label = preview(start.replace(/\s+/g, ' ').trim(), LABEL_CHARACTERS);
  return label === prompt ? prompt : label; // one string instead of two, for as long as the call lives
}
