const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/gm;
const META = /^\s*export\s+const\s+meta\b/m;

/**
 * Takes the script out of what a model answered: the whole of it, or the fenced block that holds one. Where several do, the
 * last counts.
 */
export function scriptInAnswer(answer: string): string {
  const blocks = [...answer.matchAll(FENCE)].map(([, , body = '']) => body).filter((body) => META.test(body));
  const script = blocks.at(-1) ?? answer;
  return `${script.trim()}\n`;
}
