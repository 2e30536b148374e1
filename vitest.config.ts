import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      // Properties over days of a station take seconds, on a busy machine many. Nothing here keeps anything in a
      // module, so files share processes: a new one for each takes longer than most of the files.
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 }
        }
      },
      {
        // openapi-typescript writes its types with the programming interface of TypeScript 5, which TypeScript 7 does
        // not have. A second package `typescript` would take the place of `tsc`; this one only carries the library.
        resolve: { alias: { typescript: '@ts-morph/common/dist/typescript.js' } },
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/build.ts', 'test/support/services.ts'],
          setupFiles: ['test/support/cpu-profile.ts'],
          // Files of a worker share its modules and services; see test/support/fixtures.ts.
          isolate: false,
          unstubEnvs: true,
          server: { deps: { inline: ['openapi-typescript'] } },
          testTimeout: 30_000,
          hookTimeout: 60_000,
          // A machine that others load can be late for any deadline once; what needed a second try is listed as such.
          retry: process.env['CI'] ? 1 : 0,
          // Many of these wait for time to pass, so four at a time keep two cores busy; but not beside the properties, which
          // would take the cores from those that measure how soon something happens.
          maxWorkers: 4,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
