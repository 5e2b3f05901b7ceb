const STEPS = [
  { ms: 86_400_000, unit: 'd' },
  { ms: 3_600_000, unit: 'h' },
  { ms: 60_000, unit: 'min' },
  { ms: 1_000, unit: 's' },
] as const;

/** Says how long ago a moment was, in its largest unit: `3 min ago`. */
export function ago(atMs: number, nowMs: number): string {
  const passed = nowMs - atMs;
  const step = STEPS.find(({ ms }) => passed >= ms);
  return step === undefined ? 'just now' : `${Math.floor(passed / step.ms)} ${step.unit} ago`;
}
