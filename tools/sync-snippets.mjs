/**
 * Keeps code fences in Markdown the same as files that run.
 *
 * A fence directly below `<!-- snippet: examples/01-hello.js -->` holds that file, or, below
 * `<!-- snippet: examples/library.ts#resume -->`, the lines between `#region resume` and `#endregion`. Any other fence
 * with the language of a program (`js`, `ts`, `py`) is an error.
 *
 *   node tools/sync-snippets.mjs            writes the fences
 *   node tools/sync-snippets.mjs --check    fails when one is stale
 *   --root FOLDER                           looks there instead
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false }, root: { type: 'string' } } });
const root = values.root ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const FENCE = /(?:<!-- snippet: (?<source>\S+) -->\n)?^```(?<language>js|ts|py)\n(?<code>[\s\S]*?)^```$/gm;

function textOf(source) {
  const [file, region] = source.split('#');
  const text = readFileSync(path.join(root, file), 'utf8');
  if (region === undefined) return text;
  const found = text.match(new RegExp(`^.*#region ${region}\\n([\\s\\S]*?)^.*#endregion`, 'm'));
  if (!found) throw new Error(`${file} has no region ${region}`);
  const lines = found[1].split('\n');
  const indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indent)).join('\n');
}

let wrong = 0;
for (const file of globSync(['*.md', 'docs/**/*.md'], { cwd: root, exclude: ['docs/api.api.md'] })) {
  const before = readFileSync(path.join(root, file), 'utf8');
  const after = before.replace(FENCE, (whole, source, language, _code) => {
    if (source === undefined) {
      console.error(`${file}: a ${language} fence names no file that runs; put "<!-- snippet: FILE -->" above it`);
      wrong += 1;
      return whole;
    }
    return `<!-- snippet: ${source} -->\n\`\`\`${language}\n${textOf(source).trimEnd()}\n\`\`\``;
  });
  if (after === before) continue;
  if (values.check) {
    console.error(`${file}: a snippet is stale; run node tools/sync-snippets.mjs`);
    wrong += 1;
  } else {
    writeFileSync(path.join(root, file), after);
  }
}
process.exitCode = wrong > 0 ? 1 : 0;
