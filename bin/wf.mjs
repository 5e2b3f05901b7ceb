#!/usr/bin/env node
// Old syntax on purpose: an old Node must get as far as the sentence below.
var major = Number(process.versions.node.split('.')[0]);

if (major < 24) {
  console.error(
    'wf needs Node.js 24 or newer, and this is ' +
      process.versions.node +
      '. Install it from https://nodejs.org, or run: npx -p node@24 -p wf-runtime wf …',
  );
  process.exitCode = 69; // EX_UNAVAILABLE: something the program needs is not there
} else {
  process.getBuiltinModule('node:module').enableCompileCache();
  import('../dist/wf.js');
}
