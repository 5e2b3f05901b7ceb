/**
 * Loaded into a process that is to die in the middle of a write: of its n-th write to a file whose path holds a given text,
 * half reaches the file, and then the process kills itself with SIGKILL.
 *
 *   WF_KILL_AT_WRITE='journal.jsonl:7' node --import ./kill-mid-write.mjs …
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [part, number] = (process.env.WF_KILL_AT_WRITE ?? '').split(':');
let left = Number(number);
const { open } = fs.promises;

fs.promises.open = async (path, ...rest) => {
  const file = await open(path, ...rest);
  if (!String(path).includes(part)) return file;
  const write = file.write.bind(file);
  file.write = async (data, offset, length, position) => {
    left -= 1;
    if (left !== 0) return write(data, offset, length, position);
    await write(data, offset, Math.ceil(length / 2), position);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
  return file;
};
syncBuiltinESMExports();
