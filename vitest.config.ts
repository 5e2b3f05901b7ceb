import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    watch: false,
    slowTestThreshold: 1_000,
    // A test that leaves a promise behind or passes without looking at anything is a test that cannot fail.
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
    allowOnly: false,
  },
});
