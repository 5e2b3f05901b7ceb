/** A number of tokens as someone else tells it; 0 for what is no such number, so that it cannot spoil a sum. */
export function tokenCount(told: unknown): number {
  return Number.isSafeInteger(told) && (told as number) > 0 ? (told as number) : 0;
}
