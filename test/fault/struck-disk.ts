import { truncateSync } from 'node:fs';
import { basename } from 'node:path';
import { type Disk, type DiskFile, nodeDisk } from '../../cache/disk.ts';
import { type FaultOperation, type FaultSwitch, Struck } from './fault-points.ts';

type Call = (...args: unknown[]) => Promise<unknown>;
type Write = (data: Uint8Array, offset: number, length: number, position?: number | null) => Promise<unknown>;

/** The real file system of a process that the switch may strike down. */
export class StruckDisk {
  readonly disk: Disk;
  readonly #switch: FaultSwitch;
  /** Bytes of each log that a sync has made safe, by path. */
  readonly #safe = new Map<string, number>();

  constructor(faults: FaultSwitch) {
    this.#switch = faults;
    const at = (operation: FaultOperation, call: unknown, pathIndex = 0): never =>
      ((...args: unknown[]) => this.#around(operation, String(args[pathIndex]), call as Call, args)) as never;
    const look = (call: unknown): never => ((...args: unknown[]) => this.#look(call as Call, args)) as never;
    this.disk = {
      ...nodeDisk,
      open: ((...args: Parameters<Disk['open']>) => this.#open(args)) as Disk['open'],
      mkdir: at('mkdir', nodeDisk.mkdir),
      rename: at('rename', nodeDisk.rename, 1),
      link: at('link', nodeDisk.link, 1),
      unlink: at('unlink', nodeDisk.unlink),
      writeFile: at('writeFile', nodeDisk.writeFile),
      utimes: at('utimes', nodeDisk.utimes),
      stat: look(nodeDisk.stat),
      readdir: look(nodeDisk.readdir),
      readFile: look(nodeDisk.readFile),
    };
  }

  /** What a power cut does on top of a kill: what was appended to a log and not synced is gone. */
  losePower(): void {
    for (const [path, bytes] of this.#safe) truncateSync(path, bytes);
  }

  async #look(call: Call, args: unknown[]): Promise<unknown> {
    if (this.#switch.struck) throw new Struck('struck before');
    return call(...args);
  }

  async #around(operation: FaultOperation, path: string, call: Call, args: unknown[]): Promise<unknown> {
    const name = nameOf(path);
    this.#switch.pass('before', operation, name);
    const result = await call(...args);
    this.#switch.pass('after', operation, name);
    return result;
  }

  async #open(args: Parameters<Disk['open']>): Promise<DiskFile> {
    if (args[1] === 'r') return (await this.#look(nodeDisk.open as Call, args)) as DiskFile;
    const path = String(args[0]);
    this.#switch.pass('before', 'open', nameOf(path));
    const file = await nodeDisk.open(...args);
    try {
      this.#switch.pass('after', 'open', nameOf(path));
    } catch (error) {
      await file.close();
      throw error;
    }
    return this.#watch(file, path);
  }

  #watch(file: DiskFile, path: string): DiskFile {
    const isLog = /(journal\.jsonl|events\.ndjson)$/.test(path);
    if (isLog && !this.#safe.has(path)) this.#safe.set(path, 0);
    const write = file.write.bind(file) as unknown as Write;
    const synced = (operation: FaultOperation, call: Call) => async (): Promise<void> => {
      await this.#around(operation, path, call, []);
      if (isLog) this.#safe.set(path, (await file.stat()).size);
    };
    const truncate = file.truncate.bind(file) as Call;
    return Object.assign(file, {
      write: (...args: Parameters<Write>) => this.#write(nameOf(path), write, args),
      datasync: synced('datasync', file.datasync.bind(file)),
      sync: synced('sync', file.sync.bind(file)),
      truncate: (...args: unknown[]) => this.#around('truncate', path, truncate, args),
    }) as DiskFile;
  }

  async #write(name: string, write: Write, args: Parameters<Write>): Promise<unknown> {
    const [data, offset, length, position] = args;
    this.#switch.pass('before', 'write', name);
    if (this.#switch.strikesHere('half', 'write', name)) {
      await write(data, offset, Math.floor(length / 2), position);
      throw new Struck('struck in the middle');
    }
    const result = await write(...args);
    this.#switch.pass('after', 'write', name);
    return result;
  }
}

/** The name of a file without what differs from run to run. */
function nameOf(path: string): string {
  return basename(path)
    .replace(/\.[0-9a-f-]+\.tmp$/, ' (temporary)')
    .replace(/^wf_.*/, 'run directory')
    .replace(/^a[0-9a-f]{16}/, 'agent');
}
