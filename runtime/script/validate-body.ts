import { type ClockUse, clockUse } from './clock-use.ts';
import { moduleSyntaxError } from './module-syntax-error.ts';
import type { ScriptProgram } from './parse-program.ts';
import { scriptError } from './script-error.ts';
import type { ScriptFile } from './script-file.ts';
import { type NodePath, visitNodes } from './visit-nodes.ts';
import { toSourceOffset } from './wrap-program.ts';

/**
 * Refuses what parses but may not run: `import()`, direct uses of the clock and of chance, and a template used as a function.
 * Source: spec S-5, S-6, S-7.
 *
 * @throws SCRIPT_MODULE_SYNTAX, SCRIPT_NONDETERMINISTIC, SCRIPT_SYNTAX
 */
export function validateBody(file: ScriptFile, program: ScriptProgram): void {
  visitNodes(program.main, (path) => {
    const { node } = path;
    const offset = toSourceOffset(node.start);
    if (node.type === 'ImportExpression') throw moduleSyntaxError(file, offset);
    const use = clockUse(path);
    if (use !== undefined) {
      throw scriptError('SCRIPT_NONDETERMINISTIC', file, offset, clockMessage(use), clockHint(use));
    }
    refuseTaggedText(file, path);
    refuseAwaitUsing(file, path);
  });
}

function clockMessage(use: ClockUse): string {
  const source = use.reads === 'clock' ? 'reads the clock' : 'draws a random number';
  return `${use.form} ${source}, so a resumed run would compute other prompts and pay for its agents again.`;
}

function clockHint(use: ClockUse): string {
  return use.reads === 'clock'
    ? 'Pass the time in args, for example args.now, or make it a Date of a fixed value: new Date(args.now).'
    : 'Vary prompts by the index of the item, or pass a seed in args.';
}

/** What it disposes of is waited for at a place where no text can be put (see `track-scopes.ts`). */
function refuseAwaitUsing(file: ScriptFile, { node }: NodePath): void {
  if (node.type !== 'VariableDeclaration' || node.kind !== 'await using') return;
  throw scriptError(
    'SCRIPT_SYNTAX',
    file,
    toSourceOffset(node.start),
    '`await using` is not available in a workflow.',
    'Dispose of the value in a finally block: try { … } finally { await … }.',
  );
}

/** A backtick inside a prompt can make one template the tag of the next, which parses and always throws. */
function refuseTaggedText(file: ScriptFile, { node }: NodePath): void {
  if (node.type !== 'TaggedTemplateExpression' || node.tag.type !== 'TemplateLiteral') return;
  throw scriptError(
    'SCRIPT_SYNTAX',
    file,
    toSourceOffset(node.quasi.start),
    'A template follows another and would call it as a function.',
    'A backtick inside a template prompt ends the template. Write \\` for each backtick that belongs to the text.',
  );
}
