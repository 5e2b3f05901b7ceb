import { samplePattern } from './sample-pattern.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What bounds a text; the keywords of JSON Schema. */
export interface StringBounds {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const MAX_LENGTH = 100_000;
const FILLER = ' simulated text';

/**
 * Makes a text for the property `name` that a reader knows for a stand-in, such as `simulated title 3a9f`. Lengths count
 * code points. `growth` is passed on to patterns. Undefined when it does not know how.
 */
export function makeString(
  bounds: StringBounds,
  name: string,
  random: SeededRandom,
  growth: number,
): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = bounds;
  if (minLength > MAX_LENGTH) return undefined;
  if (bounds.pattern !== undefined) return patternedText(bounds.pattern, minLength, maxLength, random, growth);
  const formatted = bounds.format === undefined ? undefined : formattedText(bounds.format, random);
  if (formatted !== undefined) return formatted;
  const mark = random.mark();
  const title = name.startsWith('simulated') ? name : `simulated ${name}`;
  return lengthen(fitLength([`${title} ${mark}`, `simulated ${mark}`, `sim ${mark}`, mark], maxLength), minLength);
}

/** A pattern that leaves the end open leaves room for a mark, and for what is missing in length. */
function patternedText(
  pattern: string,
  minLength: number,
  maxLength: number,
  random: SeededRandom,
  growth: number,
): string | undefined {
  const sample = samplePattern(pattern, random, growth);
  if (sample === undefined || pattern.endsWith('$')) return sample;
  return lengthen(
    fitLength([`${sample} simulated ${random.mark()}`, `${sample}${random.mark()}`, sample], maxLength),
    minLength,
  );
}

/** The first choice that is short enough, or as much of the last one as may be. */
function fitLength(choices: readonly string[], maxLength: number): string {
  const fits = choices.find((choice) => [...choice].length <= maxLength);
  return fits ?? (choices.at(-1) ?? '').slice(0, maxLength);
}

function lengthen(text: string, minLength: number): string {
  const missing = minLength - [...text].length;
  return missing <= 0 ? text : text + FILLER.repeat(Math.ceil(missing / FILLER.length)).slice(0, missing);
}

function formattedText(format: string, random: SeededRandom): string | undefined {
  const mark = random.mark();
  const day = `2024-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
  const time = `${two(random.below(24))}:${two(random.below(60))}:00Z`;
  switch (format) {
    case 'date':
      return day;
    case 'time':
    case 'iso-time':
      return time;
    case 'date-time':
    case 'iso-date-time':
      return `${day}T${time}`;
    case 'duration':
      return `PT${1 + random.below(59)}M`;
    case 'email':
      return `simulated-${mark}@example.com`;
    case 'hostname':
      return `simulated-${mark}.example.com`;
    case 'uri':
    case 'url':
    case 'uri-reference':
    case 'uri-template':
      return `https://example.com/simulated/${mark}`;
    case 'ipv4':
      return `192.0.2.${1 + random.below(254)}`;
    case 'ipv6':
      return `2001:db8::${mark}`;
    case 'uuid':
      return `00000000-0000-4000-8000-00000000${mark}`;
    case 'json-pointer':
      return `/simulated/${mark}`;
    case 'json-pointer-uri-fragment':
      return `#/simulated/${mark}`;
    case 'relative-json-pointer':
      return `0/simulated/${mark}`;
    case 'byte':
      return Buffer.from(`simulated ${mark}`).toString('base64');
    case 'regex':
      return `simulated-${mark}`;
    default:
      return undefined;
  }
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
