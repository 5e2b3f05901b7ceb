import { createRequire } from 'node:module';
import type { ResponsesFile } from '../../protocol/responses-file.ts';
import { WorkflowError } from '../../protocol/workflow-error.ts';
import { isPlainResponsesFile } from './is-plain-responses-file.ts';

const require = createRequire(import.meta.url);

/**
 * Reads the text of a responses file (C-12).
 *
 * @param fileName named in errors
 * @throws WorkflowError `USAGE_INVALID`, naming each place that is wrong
 */
export function loadResponsesFile(text: string, fileName: string): ResponsesFile {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(fileName, `it is no JSON: ${reason}`, error);
  }
  if (isPlainResponsesFile(json)) return json;
  const { responsesFileSchema } =
    require('../../protocol/responses-file.ts') as typeof import('../../protocol/responses-file.ts');
  const parsed = responsesFileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`);
  throw invalid(fileName, places.join('; '), parsed.error);
}

function invalid(fileName: string, reason: string, cause: unknown): WorkflowError {
  return new WorkflowError(
    'USAGE_INVALID',
    `The responses file ${fileName} cannot be used: ${reason}. It has the form {"rules": [{"match": "regex", "reply": [{"text": "…"}]}], "default": [{"text": "…"}]}.`,
    { cause },
  );
}

/** Writes a path as one would in JavaScript: `rules[0].reply[1].usage`. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place.replace(/^\./, '') || 'the file';
}
