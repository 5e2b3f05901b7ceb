/** What is to be replaced by what. */
export interface EditRequest {
  readonly oldText: string;
  readonly newText: string;
  /** Every place, not just the only one. */
  readonly all: boolean;
}

export type EditPlan =
  | {
      readonly ok: true;
      readonly text: string;
      /** Where the new text begins, in the new text, from 1. */
      readonly lines: readonly number[];
    }
  | {
      readonly ok: false;
      /** For the model. */
      readonly message: string;
      /** The text of the file that was probably meant, whole. */
      readonly near?: string;
    };

const MOST_LINES_NAMED = 20;

/**
 * Works out an edit. The old text must stand there exactly, with two allowances in which nothing can be lost: line ends are
 * those of the file, and a last line needs no line end.
 */
export function planEdit(text: string, request: EditRequest): EditPlan {
  const { oldText, newText, all } = request;
  if (oldText === newText) return no('old_string and new_string are the same: nothing would change.');
  for (const { wanted, instead } of readings(text, oldText, newText)) {
    const places = placesOf(text, wanted);
    if (places.length === 0) continue;
    if (places.length > 1 && !all) {
      return no(
        `old_string stands there ${places.length} times, at ${named(places.map((at) => lineAt(text, at)))}. Give more of the text around the one you mean, or set replace_all.`,
      );
    }
    return replaceAt(text, places, wanted.length, instead);
  }
  return notFound(text, oldText);
}

/** The ways in which the texts may be meant, the literal one first. */
function* readings(text: string, oldText: string, newText: string): Generator<{ wanted: string; instead: string }> {
  const crlf = hasOnlyCrlf(text);
  const withItsEnds = (part: string): string => (crlf ? part.replace(/\r?\n/g, '\r\n') : part);
  yield { wanted: oldText, instead: withItsEnds(newText) };
  const fitted = crlf ? withItsEnds(oldText) : oldText.replace(/\r\n/g, '\n');
  const instead = crlf ? withItsEnds(newText) : newText.replace(/\r\n/g, '\n');
  if (fitted !== oldText) yield { wanted: fitted, instead };
  const open = fitted.replace(/\r?\n$/, '');
  if (open !== fitted && open !== '' && text.endsWith(open) && placesOf(text, open).length === 1) {
    yield { wanted: open, instead: instead.replace(/\r?\n$/, '') };
  }
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function replaceAt(text: string, places: readonly number[], length: number, instead: string): EditPlan {
  let result = '';
  let from = 0;
  const starts: number[] = [];
  for (const at of places) {
    result += text.slice(from, at);
    starts.push(result.length);
    result += instead;
    from = at + length;
  }
  result += text.slice(from);
  return { ok: true, text: result, lines: linesAt(result, starts) };
}

function lineAt(text: string, at: number): number {
  return linesAt(text, [at])[0] ?? 1;
}

/** Line numbers of places in their order, in one pass. */
function linesAt(text: string, places: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return places.map((place) => {
    for (let end = text.indexOf('\n', from); end >= 0 && end < place; end = text.indexOf('\n', from)) {
      line += 1;
      from = end + 1;
    }
    return line;
  });
}

function named(lines: readonly number[]): string {
  const shown = lines.slice(0, MOST_LINES_NAMED).join(', ');
  return `line${lines.length === 1 ? '' : 's'} ${shown}${lines.length > MOST_LINES_NAMED ? ', …' : ''}`;
}

/** Says what is nearest, since the usual faults are line numbers of Read and other white space. */
function notFound(text: string, oldText: string): EditPlan {
  const start = 'old_string does not stand in the file.';
  const wanted = oldText.replace(/\r?\n$/, '').split(/\r?\n/);
  if (wanted.every((line) => /^\s*\d+\t/.test(line))) {
    return no(`${start} Its lines begin with the numbers that Read puts before them: leave out number and tab.`);
  }
  const lines = text.split(/\r?\n/);
  const folded = wanted.map(fold);
  const near = lines.findIndex((_, at) => folded.every((line, index) => fold(lines[at + index] ?? '') === line));
  if (near >= 0) {
    const message = `${start} The same text with other white space is at line ${near + 1}: copy it exactly.`;
    return { ...no(message), near: lines.slice(near, near + wanted.length).join('\n') };
  }
  const first = folded.find((line) => line !== '');
  const alike = first === undefined ? [] : lines.flatMap((line, at) => (fold(line) === first ? [at + 1] : []));
  if (alike.length === 0) return no(`${start} Read the file again: it may have changed.`);
  return no(`${start} Its first line is at ${named(alike)}, but what follows there differs. Read that part again.`);
}

function fold(line: string): string {
  return line.trim().replace(/\s+/g, ' ');
}

function no(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
