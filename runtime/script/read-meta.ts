import type { AnyNode, Expression } from 'acorn';
import type { PhaseDeclaration, WorkflowMeta } from '../../protocol/workflow-meta.ts';
import { type LiteralObject, type LiteralValue, literalValue } from './literal-value.ts';
import type { ScriptProgram } from './parse-program.ts';
import { scriptError } from './script-error.ts';
import type { ScriptFile } from './script-file.ts';
import { placeAt } from './source-place.ts';
import { toSourceOffset } from './wrap-program.ts';

/** Evaluates and checks `meta`. Source: spec S-3, S-4. @throws SCRIPT_META_INVALID */
export function readMeta(
  file: ScriptFile,
  program: ScriptProgram,
): { readonly meta: WorkflowMeta; readonly warnings: readonly string[] } {
  const init = findInit(file, program);
  const literal = literalValue(init);
  if (!literal.ok) {
    const { node, what } = literal.fault;
    const hint = 'meta is read without running the script: objects, arrays, strings, numbers, booleans and null only.';
    throw refusal(file, node, `meta must be a pure literal; ${what} is not allowed in it.`, hint);
  }
  const value = literal.value as LiteralObject;
  const name = requiredText(file, init, value, 'name');
  const description = requiredText(file, init, value, 'description');
  const warnings: string[] = [];
  const warn = (node: AnyNode, what: string): void => {
    const { line, column } = placeAt(file.source, toSourceOffset(node.start));
    warnings.push(`${file.fileName}:${line}:${column}: ${what}`);
  };
  const whenToUse = readWhenToUse(init, value.whenToUse, warn);
  const phases = readPhases(init, value.phases, warn);
  const meta = {
    name,
    description,
    ...(whenToUse === undefined ? {} : { whenToUse }),
    ...(phases === undefined ? {} : { phases }),
  };
  return { meta, warnings };
}

type Warn = (node: AnyNode, what: string) => void;

function findInit(file: ScriptFile, program: ScriptProgram): Expression {
  // The statement before it is the wrapper's directive.
  const statement = program.main.body.body[1];
  const declarations = statement?.type === 'VariableDeclaration' ? statement.declarations : [];
  const [first, second] = declarations;
  if (second !== undefined) {
    throw refusal(file, second, 'meta is declared together with another name.', 'Give each its own statement.');
  }
  if (first?.init?.type === 'ObjectExpression') return first.init;
  const node = first?.init ?? program.main;
  throw refusal(file, node, `meta must be an object literal; ${node.type} is not.`, followsOn(node));
}

/** A statement after meta that begins with a bracket and so reads as part of it. */
function followsOn(node: AnyNode): string | undefined {
  let inner: AnyNode = node;
  while (
    inner.type === 'CallExpression' ||
    inner.type === 'MemberExpression' ||
    inner.type === 'TaggedTemplateExpression'
  ) {
    inner =
      inner.type === 'CallExpression' ? inner.callee : inner.type === 'MemberExpression' ? inner.object : inner.tag;
  }
  return inner !== node && inner.type === 'ObjectExpression'
    ? 'End `export const meta = {…}` with a semicolon: the next line begins with a bracket and is read as part of it.'
    : undefined;
}

function requiredText(file: ScriptFile, init: Expression, meta: LiteralObject, key: string): string {
  const value = meta[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  const what =
    value === undefined
      ? `meta.${key} is missing.`
      : `meta.${key} must be a non-empty string; it is ${JSON.stringify(value).slice(0, 80)}.`;
  throw refusal(file, valueNode(init, key) ?? init, what, `Add \`${key}: '…'\` to meta.`);
}

function readWhenToUse(init: Expression, value: LiteralValue | undefined, warn: Warn): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  warn(valueNode(init, 'whenToUse') ?? init, 'meta.whenToUse is not a string and is ignored.');
  return undefined;
}

function readPhases(init: Expression, value: LiteralValue | undefined, warn: Warn): PhaseDeclaration[] | undefined {
  if (value === undefined) return undefined;
  const node = valueNode(init, 'phases') ?? init;
  if (!Array.isArray(value)) {
    warn(node, 'meta.phases is not an array and is ignored.');
    return undefined;
  }
  const entries: readonly LiteralValue[] = value;
  return entries.flatMap((entry, index) => {
    const phase = readPhase(entry);
    if (phase !== undefined) return [phase];
    const element = node.type === 'ArrayExpression' ? node.elements[index] : undefined;
    warn(element ?? node, `meta.phases[${index}] is not { title, detail?, model? } with strings and is dropped.`);
    return [];
  });
}

function readPhase(entry: LiteralValue): PhaseDeclaration | undefined {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined;
  const { title, detail, model } = entry as LiteralObject;
  if (typeof title !== 'string' || title.trim() === '') return undefined;
  if (detail !== undefined && typeof detail !== 'string') return undefined;
  if (model !== undefined && typeof model !== 'string') return undefined;
  return { title, ...(detail === undefined ? {} : { detail }), ...(model === undefined ? {} : { model }) };
}

/** The node of a member of meta, for places in messages. */
function valueNode(init: Expression, key: string): Expression | undefined {
  if (init.type !== 'ObjectExpression') return undefined;
  const property = init.properties.findLast(
    (candidate) =>
      candidate.type === 'Property' &&
      ((candidate.key.type === 'Identifier' && candidate.key.name === key) ||
        (candidate.key.type === 'Literal' && candidate.key.value === key)),
  );
  return property?.type === 'Property' ? property.value : undefined;
}

function refusal(file: ScriptFile, node: AnyNode, what: string, hint?: string): Error {
  return scriptError('SCRIPT_META_INVALID', file, toSourceOffset(node.start), what, hint);
}
