import type { CliContext } from '../cli-context.ts';
import { readGlobalsFile } from '../globals-file.ts';

/** `wf types`: prints the declarations of a script's globals. */
export async function typesCommand(context: CliContext): Promise<number> {
  context.stdout.write(await readGlobalsFile());
  return 0;
}
