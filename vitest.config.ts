import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Each integration file has services of its own beside the shared Postgres: two at a time suit two cores.
    maxWorkers: 2,
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/services.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000
        }
      }
    ]
  }
})
