import { isNestedTooDeeply } from '../../protocol/json-nesting.ts';

/** A longer result is left in its file: a model would have to read it whole. */
const MAX_RESULT_CHARACTERS = 200_000;

/** The members with which an answer shows a result. @param resultJson undefined when there is none */
export function resultMember(resultJson: string | undefined): {
  readonly result?: unknown;
  readonly resultOmitted?: true;
} {
  if (resultJson === undefined) return {};
  if (resultJson.length > MAX_RESULT_CHARACTERS) return { resultOmitted: true };
  const result: unknown = JSON.parse(resultJson);
  return isNestedTooDeeply(result) ? { resultOmitted: true } : { result };
}
