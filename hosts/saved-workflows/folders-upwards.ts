import { dirname } from 'node:path';

/** Lists a folder, its parents up to the root, and the home directory last unless it was among them. */
export function foldersUpwards(start: string, homeDirectory: string): readonly string[] {
  const folders = [start];
  for (let folder = start; dirname(folder) !== folder; ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  if (!folders.includes(homeDirectory)) folders.push(homeDirectory);
  return folders;
}
