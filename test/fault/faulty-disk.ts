import { type Disk, type DiskFile, nodeDisk } from '../../cache/disk.ts';

/** What to do before a call on an open file: count it, delay it, or throw. */
export type BeforeCall = (method: 'write' | 'datasync' | 'sync', path: string) => void | Promise<void>;

/** A file system error as Node throws it. */
export function errno(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** The real file system with `before` called ahead of each write and sync of an open file. */
export function faultyDisk(before: BeforeCall, changes: Partial<Disk> = {}): Disk {
  return {
    ...nodeDisk,
    open: async (path, flags, mode) => watched(await nodeDisk.open(path, flags, mode), String(path), before),
    ...changes,
  };
}

function watched(file: DiskFile, path: string, before: BeforeCall): DiskFile {
  return new Proxy(file, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') {
        return value;
      }
      if (name === 'write' || name === 'datasync' || name === 'sync') {
        return async (...args: unknown[]) => {
          await before(name, path);
          return value.apply(target, args);
        };
      }
      return value.bind(target);
    },
  });
}
