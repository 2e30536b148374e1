import { defineConfig } from 'vitest/config'

/** Draws the pictures of `docs/screenshots`: `npm run screenshots`. No part of the tests. */
export default defineConfig({
  test: {
    include: ['test/screenshots/*.shots.ts'],
    globalSetup: ['test/support/services.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000
  }
})
