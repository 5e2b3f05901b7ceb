import { expect, it } from 'vitest';
import { z } from 'zod';
import { STREAM_JSON_VERSION, streamJsonLineSchema } from '../../../protocol/stream-json.ts';

it('describes its lines as JSON Schema in which unknown fields are allowed (E-12)', () => {
  const { anyOf, oneOf } = z.toJSONSchema(streamJsonLineSchema);
  const lines = (anyOf ?? oneOf ?? []) as {
    properties: { subtype: { const: string } };
    additionalProperties: unknown;
  }[];
  expect(lines.map(({ properties }) => properties.subtype.const)).toEqual([
    'task_started',
    'task_progress',
    'task_updated',
    'task_notification',
    'background_tasks_changed',
  ]);
  for (const { additionalProperties } of lines) expect(additionalProperties).not.toBe(false);
  expect(STREAM_JSON_VERSION).toBe(1);
});
