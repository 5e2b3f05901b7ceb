import { readFile } from 'node:fs/promises';
import type { RunOutput } from '../../protocol/run-record.ts';

/** Reads the `output.json` of a run that is over; undefined where it is missing or damaged: the record says how it ended. */
export async function readOutput(path: string): Promise<RunOutput | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RunOutput;
  } catch {
    return undefined;
  }
}
