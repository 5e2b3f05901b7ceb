/**
 * Joins pairs to the JSON text of an object: a value that is JSON stays as it is written, any other becomes a string. Built as
 * text, so that no key and no number is changed; the last of equal keys counts.
 */
export function argsFromPairs(pairs: Iterable<readonly [key: string, value: string]>): string {
  const members = [...new Map(pairs)].map(
    ([key, value]) => `${JSON.stringify(key)}:${isJson(value) ? value : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
