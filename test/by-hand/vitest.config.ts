import { defineConfig } from 'vitest/config'

/**
 * Programs that are run manually and are not tests: `npm run by-hand -- screenshots` takes the screenshots in
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
