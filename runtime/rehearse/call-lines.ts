import type { AnyNode, CallExpression } from 'acorn';
import { ScriptFacts } from '../script/check/script-facts.ts';
import { parseProgram } from '../script/parse-program.ts';
import type { ParsedScript } from '../script/parse-script.ts';
import { placeAt } from '../script/source-place.ts';
import { toSourceOffset } from '../script/wrap-program.ts';

/** A piece of a prompt; undefined when it is only known at run time. */
type Piece = string | undefined;

interface CallSite {
  readonly line: number;
  readonly prompt: readonly Piece[];
  /** Characters of the prompt that stand in the script. */
  readonly known: number;
}

/**
 * Tells at which line of a script a prompt is given to `agent()`: the one whose text fits it best; undefined when more
 * than one does, or none.
 */
export function createCallLines(script: ParsedScript): (prompt: string) => number | undefined {
  const facts = new ScriptFacts(parseProgram(script).main);
  const sites = [...facts.callsOf('agent')].map(({ call }) => siteOf(call, facts, script.source));
  return (prompt) => {
    const fitting = sites.filter((site) => fits(prompt, site.prompt));
    const best = Math.max(...fitting.map(({ known }) => known));
    const lines = new Set(fitting.filter(({ known }) => known === best).map(({ line }) => line));
    return lines.size === 1 ? [...lines][0] : undefined;
  };
}

function siteOf(call: CallExpression, facts: ScriptFacts, source: string): CallSite {
  const prompt = call.arguments[0] === undefined ? [undefined] : piecesOf(call.arguments[0], facts, 0);
  return {
    line: placeAt(source, toSourceOffset(call.start)).line,
    prompt,
    known: prompt.reduce((sum, piece) => sum + (piece?.length ?? 0), 0),
  };
}

/** Tells whether a text consists of these pieces, in order. */
function fits(text: string, pieces: readonly Piece[]): boolean {
  let at = 0;
  let floating = false;
  for (const piece of pieces) {
    if (piece === undefined) floating = true;
    else {
      const found = floating ? text.indexOf(piece, at) : text.startsWith(piece, at) ? at : -1;
      if (found < 0) return false;
      at = found + piece.length;
      floating = piece === '' && floating;
    }
  }
  const last = pieces.at(-1);
  return floating || at === text.length || (last !== undefined && pieces.includes(undefined) && text.endsWith(last));
}

/** The pieces of a text as far as they stand in the script. */
function piecesOf(node: AnyNode, facts: ScriptFacts, depth: number): readonly Piece[] {
  const value = facts.valueOf(node);
  if (value.type === 'Literal') return [String(value.value)];
  if (depth > 20) return [undefined];
  if (value.type === 'TemplateLiteral') {
    return value.quasis.flatMap(({ value: { cooked } }, place) => {
      const expression = value.expressions[place];
      return [cooked ?? undefined, ...(expression === undefined ? [] : piecesOf(expression, facts, depth + 1))];
    });
  }
  if (value.type === 'BinaryExpression' && value.operator === '+') {
    return [...piecesOf(value.left, facts, depth + 1), ...piecesOf(value.right, facts, depth + 1)];
  }
  return [undefined];
}
