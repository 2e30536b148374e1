import { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { test as base, inject } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { openDatabases, type TestDatabases } from './databases.ts'
import { openStage, type Stage } from './live-stage.ts'
import { openPages } from './open-page.ts'
import { type Opened, openRedisServer } from './opened.ts'
import { startServer } from './program.ts'
import { withOwnAddress, openProgram, connectToSharedProgram } from './shared-program.ts'
import { openTempFolder } from './temp-folder.ts'

type OnCleanup = (cleanup: () => void | PromiseLike<void>) => void

const withStores = base
  // Vitest determines the dependencies of a fixture from the pattern of its first argument, so it is
  // required.
  // oxlint-disable-next-line no-empty-pattern
  .extend('databases', { scope: 'worker' }, async ({}, { onCleanup }) => useDatabases(onCleanup))
  .extend('database', async ({ databases }, { onCleanup }) => {
    const database = await databases.take()
    onCleanup(database.giveBack)
    return database
  })
  .extend('databaseUrl', ({ database }) => database.url)
  .extend('sql', ({ database }) => database.sql)
  // oxlint-disable-next-line no-empty-pattern
  .extend('redisOfWorker', { scope: 'worker' }, async ({}, { onCleanup }) => useSharedRedis(onCleanup))
  .extend('redisUrl', async ({ redisOfWorker }) => {
    const redis = new Redis(redisOfWorker)
    await redis.flushall()
    await redis.quit()
    return redisOfWorker
  })
  .extend('redis', async ({ redisUrl }, { onCleanup }) => {
    const redis = new Redis(redisUrl)
    onCleanup(() => redis.disconnect())
    return redis
  })

const withBrowser = withStores
  // oxlint-disable-next-line no-empty-pattern
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => useSharedBrowser(onCleanup))
  .extend('openPage', async ({ browser }, { onCleanup }) => {
    const pages = openPages(browser)
    onCleanup(pages.close)
    return pages.open
  })

/**
 * The `test` of integration tests. A test gets the fixtures that it names in its first argument:
 *
 * - `databaseUrl`, `sql`: a migrated, empty database for this test, and a pool on it
 * - `redisUrl`, `redis`: a Redis that is emptied before each test, and a client on it
 * - `program`: a server and workers with their own database and Redis
 * - `stage`: a server without workers, and stations that are written to its Redis
 * - `openPage`: opens pages in the Chromium of the worker, each in its own context, which is closed after the
 * test
 *
 * All files share the program, also concurrently, and the files that a Vitest worker runs in sequence share
 * the stage. So a test creates its own stations and keys, tolerates those of other tests, and ends no
 * process. `isolatedTest` is for tests that cannot.
 */
export const test = withBrowser
  // oxlint-disable-next-line no-empty-pattern
  .extend('program', { scope: 'worker' }, async ({}, { onCleanup }) =>
    withOwnAddress(await useSharedProgram(onCleanup))
  )
  // oxlint-disable-next-line no-empty-pattern
  .extend('stage', { scope: 'worker' }, async ({}, { onCleanup }) => useSharedStage(onCleanup))

/**
 * Like `test`, with a program and a stage that are shared only within one file. A file may override
 * `serverVariables` and `workersVariables`, additional environment variables of the server and the workers.
 */
export const isolatedTest = withBrowser
  // oxlint-disable-next-line no-empty-pattern
  .extend('serverVariables', { scope: 'file' }, async ({}): Promise<Record<string, string>> => ({}))
  // oxlint-disable-next-line no-empty-pattern
  .extend('workersVariables', { scope: 'file' }, async ({}): Promise<Record<string, string>> => ({}))
  .extend('program', { scope: 'file' }, async ({ serverVariables, workersVariables }, { onCleanup }) =>
    use(openProgram(inject('templateUrl'), serverVariables, workersVariables), onCleanup)
  )
  // oxlint-disable-next-line no-empty-pattern
  .extend('stage', { scope: 'file' }, async ({}, { onCleanup }) => use(openStageWithServer(), onCleanup))

async function openStageWithServer(): Promise<Opened<Stage>> {
  const redis = await openRedisServer()
  const databases = openDatabases(inject('templateUrl'))
  const database = await databases.take()
  const folder = await openTempFolder()
  const PORT = String(await findFreePort())
  const start = () => startServer(database.url, redis.value, folder.path, { PORT })
  const stage = openStage(await start(), redis.value, start)
  const close = async () => {
    stage[Symbol.dispose]()
    await folder[Symbol.asyncDispose]()
    await databases.close()
    await redis.close()
  }
  return { value: stage, close }
}

/** Opens the resource of one fixture. */
async function use<T>(opening: Promise<Opened<T>>, onCleanup: OnCleanup): Promise<T> {
  const { value, close } = await opening
  onCleanup(close)
  return value
}

/**
 * Opens a resource at the first call and returns the same one afterwards: `test.extend` creates worker
 * fixtures for each file, which share it. Vitest closes it when the worker ends.
 */
function oncePerWorker<T>(open: () => Promise<Opened<T>>): (onCleanup: OnCleanup) => Promise<T> {
  let opened: Promise<T> | undefined
  return onCleanup => (opened ??= use(open(), onCleanup))
}

/** Playwright is loaded only for tests of pages. */
async function openBrowser(): Promise<Opened<Browser>> {
  const { startBrowser } = await import('./browser.ts')
  const browser = await startBrowser()
  return { value: browser, close: () => browser.close() }
}

async function openDatabasesOfWorker(): Promise<Opened<TestDatabases>> {
  const value = openDatabases(inject('templateUrl'))
  return { value, close: value.close }
}

const useDatabases = oncePerWorker(openDatabasesOfWorker)
const useSharedBrowser = oncePerWorker(openBrowser)
const useSharedRedis = oncePerWorker(openRedisServer)
const useSharedProgram = oncePerWorker(async () => connectToSharedProgram(inject('sharedProgramUrl')))
const useSharedStage = oncePerWorker(openStageWithServer)
