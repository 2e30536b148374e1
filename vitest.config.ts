import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { isDeep, tier } from './test/support/tier.ts'
import { patience } from './test/support/wait.ts'

const minuteMs = 60_000

/** Tests of the whole program, in the tier they belong to; see docs/testing.md. */
const integration = {
  globalSetup: ['test/support/build.ts', 'test/support/services.ts'],
  setupFiles: ['test/support/cpu-profile.ts'],
  // Files of a worker share its modules and services; see test/support/fixtures.ts.
  isolate: false,
  unstubEnvs: true,
  testTimeout: isDeep ? 20 * minuteMs : (patience * minuteMs) / 2,
  hookTimeout: patience * minuteMs,
  // A machine that others load can be late for any deadline once; what needed a second try is listed as such.
  retry: process.env['CI'] ? 1 : 0,
  // Many of these wait for time to pass, so four at a time keep two cores busy; more would only make each of them late.
  // They do not run beside the properties, which would take the cores from those that measure how soon something
  // happens. The crowds and kill loops of the deep tier need room.
  maxWorkers: isDeep ? 3 : 4,
  sequence: { groupOrder: 1 }
}

/**
 * openapi-typescript writes its types with the programming interface of TypeScript 5, which TypeScript 7 does not have.
 * A second package `typescript` would take the place of `tsc`; this one only carries the library.
 */
const resolve = { alias: { typescript: '@ts-morph/common/dist/typescript.js' } }
const inlined = { deps: { inline: ['openapi-typescript'] } }

/** Files that take long with little CPU use, because they wait for timers. */
const waitingFiles = new RegExp(
  `/(${[
    'admin-key',
    'api',
    'autodj',
    'backup',
    'client',
    'contention',
    'cover-lookups',
    'feed',
    'files',
    'guarded-fetch',
    'half-open',
    'hls-log',
    'liquidsoap',
    'liquidsoap-live',
    'live-conformance-(foreign|polling)',
    'long-poll',
    'outage-log',
    'polls',
    '(postgres|redis)-failover',
    'queue-write',
    'remote-lists',
    'requests',
    'schedule-simulation',
    'station-(import|isolation|services)',
    'stations',
    'storage-sftp-odd',
    'webhook-faults'
  ].join('|')})\\.test\\.ts$`
)

const isWaiting = ({ moduleId, project }: TestSpecification) =>
  project.name === 'integration' && waitingFiles.test(moduleId)

/** Makes every third file one that waits, as long as there are any, so that the CPU is always busy. */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Without results of a previous run the largest files are first. `sort` is not that of arrays.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files)
    const waiting = sorted.filter(isWaiting)
    const mixed = sorted.filter(each => !isWaiting(each))
    const beginning = mixed.findIndex(({ project }) => project.name === 'integration')
    for (const [index, each] of waiting.entries()) mixed.splice(beginning + 3 * index, 0, each)
    return mixed
  }
}

/** Files that mock a module of Node, which must not be loaded before. */
const mocking = ['test/integration/guarded-{fetch,names}.test.ts']

export default defineConfig({
  test: {
    experimental: { fsModuleCache: true },
    sequence: { sequencer: Mixed },
    projects: [
      // These files keep no state in modules, so they share processes: starting one per file takes longer than most
      // files.
      {
        resolve,
        test: {
          name: 'unit',
          server: inlined,
          include: ['test/unit/**/*.test.ts'],
          setupFiles: ['test/support/cpu-profile.ts', 'test/support/property-runs.ts'],
          testTimeout: isDeep ? 20 * minuteMs : minuteMs,
          isolate: false,
          pool: 'threads',
          maxWorkers: 2,
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...integration,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: mocking
        }
      },
      { test: { ...integration, name: 'guarded', globalSetup: [], include: mocking, isolate: true } },
      ...(isDeep
        ? [
            {
              resolve,
              test: {
                ...integration,
                name: 'deep',
                server: inlined,
                include: ['test/deep/**/*.test.ts'],
                maxWorkers: 1,
                sequence: { groupOrder: 2 }
              }
            }
          ]
        : []),
      ...(tier === 'soak'
        ? [
            {
              test: {
                ...integration,
                name: 'soak',
                include: ['test/soak/**/*.test.ts'],
                testTimeout: 180 * minuteMs,
                maxWorkers: 1,
                sequence: { groupOrder: 3 }
              }
            }
          ]
        : [])
    ]
  }
})
