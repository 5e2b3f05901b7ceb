const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** Writes a number of bytes for a person: `812 B`, `3.4 MiB`. */
export function byteSize(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}
