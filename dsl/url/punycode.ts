/** Encodes one label without its prefix. Source: RFC 3492, section 6.3. */
export function toPunycode(label: string): string {
  const input = Array.from(label, (character) => character.codePointAt(0) as number);
  const basic = input.filter((code) => code < 128);
  let output = String.fromCharCode(...basic);
  let handled = basic.length;
  if (handled > 0) output += '-';
  let next = 128;
  let delta = 0;
  let bias = 72;
  while (handled < input.length) {
    const smallest = Math.min(...input.filter((code) => code >= next));
    delta += (smallest - next) * (handled + 1);
    next = smallest;
    for (const code of input) {
      if (code < next) delta++;
      if (code !== next) continue;
      output += writeDelta(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    next++;
  }
  return output;
}

function writeDelta(delta: number, bias: number): string {
  let output = '';
  let rest = delta;
  for (let k = 36; ; k += 36) {
    const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
    if (rest < threshold) return output + digit(rest);
    output += digit(threshold + ((rest - threshold) % (36 - threshold)));
    rest = Math.floor((rest - threshold) / (36 - threshold));
  }
}

function digit(value: number): string {
  return String.fromCharCode(value < 26 ? 97 + value : 22 + value);
}

function adapt(delta: number, points: number, first: boolean): number {
  let scaled = first ? Math.floor(delta / 700) : delta >> 1;
  scaled += Math.floor(scaled / points);
  let k = 0;
  for (; scaled > 455; k += 36) scaled = Math.floor(scaled / 35);
  return k + Math.floor((36 * scaled) / (scaled + 38));
}
