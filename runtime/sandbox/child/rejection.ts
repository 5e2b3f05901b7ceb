const TEXT_CHARACTERS = 2000;

/** What the module gives for a thrown object that is no error. */
const NOT_AN_ERROR = /^An object was thrown from supplied code within isolated-vm/;

/**
 * Describes the copy of a rejection's reason. `key` is what `rejectionKey` of `dsl/rejections.ts` gives for the reason
 * itself, so that the guest knows it again.
 */
export function describeRejection(reason: unknown): { readonly key: string; readonly text: string } {
  if (!(reason instanceof Error)) {
    return { key: `${typeof reason} ${String(reason)}`, text: String(reason).slice(0, TEXT_CHARACTERS) };
  }
  if (NOT_AN_ERROR.test(reason.message)) return { key: 'object', text: 'an object that is not an Error' };
  // The module adds the stack of this process below the guest's own.
  const stack = String(reason.stack).split('\n    at (<isolated-vm boundary>)')[0] as string;
  const place = /\n {4}at (?:.*\()?([^()\n]+:\d+:\d+)\)?/.exec(stack)?.[1];
  const text = `${reason.name}: ${reason.message}${place === undefined ? '' : ` (${place})`}`;
  return { key: stack, text: text.slice(0, TEXT_CHARACTERS) };
}
