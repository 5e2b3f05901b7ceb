// Bundles dsl/ into the one script that the sandbox runs first. With --check it fails when the committed bundle is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}runtime/sandbox/prelude.generated.ts`;

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['dsl/door.ts'],
  bundle: true,
  write: false,
  format: 'cjs',
  platform: 'neutral',
  target: 'node24',
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  tsconfigRaw: '{}',
  banner: { js: '(()=>{"use strict";const module={exports:{}};' },
  footer: { js: 'return module.exports.openDoor})()' },
});

const script = outputFiles[0].text.trim();
const text = `// Made by tools/build-prelude.mjs from dsl/. Do not edit.

/** The bundled guest: an expression whose value is \`openDoor\` of \`dsl/door.ts\`. */
export const PRELUDE =
  ${JSON.stringify(script)};
`;

if (process.argv.includes('--check')) {
  const committed = await readFile(target, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error('runtime/sandbox/prelude.generated.ts is stale. Run: node tools/build-prelude.mjs');
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
