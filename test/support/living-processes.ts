import { readdir, readFile } from 'node:fs/promises';

/** Processes whose environment holds a variable, zombies left out; by it a test finds what its commands started. */
export async function processesWith(variable: string): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const [environment, state] = await Promise.all(
        ['environ', 'stat'].map((file) => readFile(`/proc/${name}/${file}`, 'latin1').catch(() => '')),
      );
      const isZombie = /\) [ZX] /.test(state ?? '');
      return environment?.split('\0').includes(variable) && !isZombie ? [Number(name)] : [];
    }),
  );
  return found.flat();
}
