import { defineConfig } from 'vitest/config'

/**
 * What is run by hand, and is no part of the tests: `npm run by-hand -- screenshots` draws the pictures of
 * `docs/screenshots`.
 */
export default defineConfig({
  test: {
    include: ['test/by-hand/*.ts'],
    exclude: ['test/by-hand/vitest.config.ts'],
    globalSetup: ['test/support/build.ts', 'test/support/services.ts'],
    testTimeout: 7_200_000,
    hookTimeout: 60_000
  }
})
