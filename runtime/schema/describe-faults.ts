import type { SchemaFault } from './compile-validator.ts';

/** Bounds on what a model is told. */
const MAX_FAULTS = 20;
const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_LINE_CHARACTERS = 300;
const MAX_VALUE_CHARACTERS = 60;
const ADDENDA: ReadonlySet<string> = new Set(['if', 'propertyNames', 'anyOf', 'oneOf']);

/**
 * Says each fault of an answer in plain words, one line each: the path, such as `items[1].size`, and what is wrong.
 * `prefix` is the path of `value` within what the model sent. Bounded.
 */
export function describeFaults(faults: readonly SchemaFault[], value: unknown, prefix: string): readonly string[] {
  const lines = new Set<string>();
  for (const group of groupByPlace(faults)) {
    const [first] = group;
    if (first === undefined) continue;
    const path = pathText(first.instancePath, value, prefix);
    lines.add(clip(`${path}: ${describe(group, valueAt(first.instancePath, value))}`, MAX_LINE_CHARACTERS));
  }
  return boundLines([...lines]);
}

/** One message of all faults. */
export function joinFaults(lines: readonly string[]): string {
  return ['The answer does not match its schema:', ...lines.map((line) => `- ${line}`)].join('\n');
}

function boundLines(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let room = MAX_MESSAGE_CHARACTERS - 120;
  for (const line of lines) {
    if (kept.length === MAX_FAULTS - 1 && lines.length > MAX_FAULTS) break;
    room -= line.length + 3;
    if (room < 0) break;
    kept.push(line);
  }
  return kept.length < lines.length ? [...kept, `and ${lines.length - kept.length} more`] : kept;
}

/** Puts the types, and the constants, that the branches of a union ask for into one group; faults of a whole come last. */
function groupByPlace(faults: readonly SchemaFault[]): readonly (readonly SchemaFault[])[] {
  const groups = new Map<string, SchemaFault[]>();
  for (const [at, fault] of faults.entries()) {
    const merges = fault.keyword === 'type' || fault.keyword === 'const';
    const key = merges ? `${fault.keyword} ${fault.instancePath}` : `${at}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [fault]);
    else group.push(fault);
  }
  const all = [...groups.values()];
  const isAddendum = (group: readonly SchemaFault[]) => ADDENDA.has(group[0]?.keyword ?? '');
  return [...all.filter((group) => !isAddendum(group)), ...all.filter(isAddendum)];
}

function describe(group: readonly SchemaFault[], value: unknown): string {
  const [fault] = group as readonly [SchemaFault];
  const { keyword, params } = fault;
  switch (keyword) {
    case 'required':
      return `the property ${show(params.missingProperty)} is missing`;
    case 'type':
      return `must be ${typesText(group)}, but is ${describeValue(value)}`;
    case 'enum':
      return `must be one of ${listText(params.allowedValues as unknown[])}, but is ${describeValue(value)}`;
    case 'const':
      return `must be ${listText([...new Set(group.map((one) => one.params.allowedValue))])}, but is ${describeValue(value)}`;
    case 'additionalProperties':
      return `the property ${show(params.additionalProperty)} is not allowed`;
    case 'unevaluatedProperties':
      return `the property ${show(params.unevaluatedProperty)} is not allowed`;
    case 'propertyNames':
      return `the property name ${show(params.propertyName)} is not allowed`;
    case 'dependentRequired':
      return `the property ${show(params.missingProperty)} is missing, which ${show(params.property)} calls for`;
    case 'uniqueItems':
      return `items must differ, but ${params.i} and ${params.j} are equal`;
    case 'pattern':
      return `must match the pattern ${clip(String(params.pattern), 100)}, but is ${describeValue(value)}`;
    case 'format':
      return `must have the format ${params.format}, but is ${describeValue(value)}`;
    case 'anyOf':
      return 'matches none of the allowed forms';
    case 'oneOf':
      return params.passingSchemas === null
        ? 'matches none of the allowed forms'
        : `matches several of the allowed forms (${(params.passingSchemas as number[]).join(' and ')}), but must match exactly one`;
    case 'not':
      return 'matches what the schema excludes';
    case 'if':
      return `does not match what follows when the condition of the schema is ${params.failingKeyword === 'then'}`;
    case 'contains':
      return `must hold at least ${params.minContains} fitting items`;
    case 'false schema':
      return 'is not allowed here';
    default:
      return describeBound(fault, value);
  }
}

function describeBound({ keyword, params }: SchemaFault, value: unknown): string {
  const limit = String(params.limit);
  switch (keyword) {
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be ${COMPARISONS[String(params.comparison)]} ${limit}, but is ${describeValue(value)}`;
    case 'multipleOf':
      return `must be a multiple of ${params.multipleOf}, but is ${describeValue(value)}`;
    case 'minLength':
    case 'maxLength':
      return `must have ${bound(keyword)} ${limit} characters, but has ${[...String(value)].length}: ${describeValue(value)}`;
    case 'minItems':
    case 'maxItems':
      return `must have ${bound(keyword)} ${limit} items, but has ${(value as unknown[]).length}`;
    case 'items':
    case 'additionalItems':
    case 'unevaluatedItems':
      return `must have at most ${params.limit ?? params.len} items`;
    case 'minProperties':
    case 'maxProperties':
      return `must have ${bound(keyword)} ${limit} properties`;
    default:
      return `does not satisfy \`${keyword}\` of the schema`;
  }
}

const COMPARISONS: Readonly<Record<string, string>> = { '>=': 'at least', '>': 'above', '<=': 'at most', '<': 'below' };

function bound(keyword: string): string {
  return keyword.startsWith('min') ? 'at least' : 'at most';
}

function typesText(group: readonly SchemaFault[]): string {
  const types = new Set(group.flatMap(({ params }) => params.type as string | string[]));
  return [...types]
    .map((type) => (type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`))
    .join(' or ');
}

function listText(values: readonly unknown[]): string {
  const shown = values.slice(0, 12).map((value) => clip(show(value), 40));
  return values.length > shown.length ? `${shown.join(', ')} … (${values.length} in all)` : shown.join(', ');
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return `an object with ${Object.keys(value).length} properties`;
  return value === null || value === undefined ? String(value) : `the ${typeof value} ${show(value)}`;
}

function show(value: unknown): string {
  const short =
    typeof value === 'string' && value.length > MAX_VALUE_CHARACTERS
      ? `${value.slice(0, MAX_VALUE_CHARACTERS)}…`
      : value;
  return clip(JSON.stringify(short) ?? String(short), MAX_VALUE_CHARACTERS * 2);
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…`.toWellFormed() : text.toWellFormed();
}

function pointerSteps(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(pointer: string, value: unknown): unknown {
  let at = value;
  for (const step of pointerSteps(pointer))
    at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
  return at;
}

function pathText(pointer: string, value: unknown, prefix: string): string {
  let path = prefix;
  let at = value;
  for (const step of pointerSteps(pointer)) {
    if (Array.isArray(at)) path += `[${step}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) path += path === '' ? step : `.${step}`;
    else path += `[${show(step)}]`;
    at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
  }
  return path === '' ? 'the answer' : path;
}
