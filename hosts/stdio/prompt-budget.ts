const UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Reads a budget of output tokens such as `+500k` or `+1.5m` off a prompt; undefined when it names none. Source: A-16. */
export function promptBudget(text: string): number | undefined {
  const match = /(?<![^\s(])\+(\d{1,9}(?:\.\d{1,6})?)([km])(?![\w.])/i.exec(text);
  if (match === null) return undefined;
  const tokens = Math.round(Number(match[1]) * (UNITS[(match[2] ?? '').toLowerCase()] ?? 0));
  return tokens > 0 ? tokens : undefined;
}
