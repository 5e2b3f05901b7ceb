import { z } from 'zod';
import { coreEventSchema } from '../../protocol/core-event.ts';
import { journalRowSchema } from '../../protocol/journal-row.ts';
import { nearestWord } from '../../protocol/nearest-word.ts';
import { responsesFileSchema } from '../../protocol/responses-file.ts';
import { runOutputSchema, runRecordSchema } from '../../protocol/run-record.ts';
import { sessionRowSchema } from '../../protocol/session-row.ts';
import { stdioInputSchema } from '../../protocol/stdio-input.ts';
import { stdioOutputSchema } from '../../protocol/stdio-output.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { workflowMetaSchema } from '../../protocol/workflow-meta.ts';
import { workflowToolInputSchema } from '../../protocol/workflow-tool-input.ts';
import type { CliContext } from '../cli-context.ts';

/** Formats by the name of their file in `protocol/`. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  'core-event': coreEventSchema,
  'journal-row': journalRowSchema,
  'responses-file': responsesFileSchema,
  'run-output': runOutputSchema,
  'run-record': runRecordSchema,
  'session-row': sessionRowSchema,
  'stdio-input': stdioInputSchema,
  'stdio-output': stdioOutputSchema,
  'workflow-meta': workflowMetaSchema,
  'workflow-tool-input': workflowToolInputSchema,
};

/** `wf schema`: prints one JSON Schema, or an object of all of them. @throws USAGE_INVALID for an unknown name */
export async function schemaCommand(context: CliContext, name: string | undefined): Promise<number> {
  if (name === undefined) {
    const all = Object.entries(SCHEMAS).map(([key, schema]) => [key, toJsonSchema(schema)]);
    context.stdout.write(`${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    return 0;
  }
  const schema = SCHEMAS[name];
  if (schema === undefined) {
    const names = Object.keys(SCHEMAS);
    const near = nearestWord(name, names);
    throw new WorkflowError(
      'USAGE_INVALID',
      `there is no format named ${JSON.stringify(name)}; known are ${names.join(', ')}` +
        (near === undefined ? '' : ` (Did you mean ${near}?)`),
    );
  }
  context.stdout.write(`${JSON.stringify(toJsonSchema(schema), null, 2)}\n`);
  return 0;
}

function toJsonSchema(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' });
}
