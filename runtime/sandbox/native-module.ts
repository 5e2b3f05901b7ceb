import { createRequire } from 'node:module';
import path from 'node:path';

export interface NativeModule {
  /** Absolute path of the `.node` file. */
  readonly file: string;
}

/**
 * Finds the binary of `isolated-vm` for this Node, with the finder that the module itself uses: the sandbox process may
 * not search, it is only allowed to read this one file.
 */
export function findNativeModule(): NativeModule {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('isolated-vm/package.json');
  const finder = createRequire(manifest)('node-gyp-build') as { path(directory: string): string };
  return { file: finder.path(path.dirname(manifest)) };
}
