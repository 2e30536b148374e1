import { Redis } from 'ioredis'
import type { Browser } from 'playwright-core'
import { test as base, inject } from 'vitest'

import { findFreePort } from '../../src/runtime/ports.ts'
import { openDatabases, type TestDatabases } from './databases.ts'
import { openStage, type Stage } from './live-stage.ts'
import { openPages } from './open-page.ts'
import { type Opened, openRedisServer } from './opened.ts'
import { startServer } from './program.ts'
import { withOwnAddress, openProgram, connectToSharedProgram } from './shared-program.ts'
import { openTempFolder } from './temp-folder.ts'

type OnCleanup = (cleanup: () => void | PromiseLike<void>) => void

const withStores = base
  // Vitest finds out what a fixture needs by reading the pattern of its first argument, so there must be one.
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
 * The `test` of integration tests. A test gets only what it names in its first argument:
 *
 * - `databaseUrl`, `sql`: a migrated, empty database of its own, and a pool on it
 * - `redisUrl`, `redis`: a Redis that is emptied before each test, and a client on it
 * - `program`: a server and workers on a database and a Redis of their own
 * - `stage`: a server without workers, and stations that are put into its Redis
 * - `openPage`: opens pages in the worker's Chromium, each in a context of its own that is closed after the
 * test
 *
 * All files share the program, also those that run at the same moment, and the files that a worker of Vitest
 * runs one after another share the stage: a test makes stations and keys of its own, expects those of other
 * tests beside them to come and go, and ends no process. `isolatedTest` is for tests that cannot.
 */
export const test = withBrowser
  // oxlint-disable-next-line no-empty-pattern
  .extend('program', { scope: 'worker' }, async ({}, { onCleanup }) =>
    withOwnAddress(await useSharedProgram(onCleanup))
  )
  // oxlint-disable-next-line no-empty-pattern
  .extend('stage', { scope: 'worker' }, async ({}, { onCleanup }) => useSharedStage(onCleanup))

/**
 * Like `test`, with a program and a stage that only the tests of one file share. A file may override
 * `serverVariables`, further environment variables of the program's server.
 */
export const isolatedTest = withBrowser
  // oxlint-disable-next-line no-empty-pattern
  .extend('serverVariables', { scope: 'file' }, async ({}): Promise<Record<string, string>> => ({}))
  .extend('program', { scope: 'file' }, async ({ serverVariables }, { onCleanup }) =>
    use(openProgram(inject('templateUrl'), serverVariables), onCleanup)
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

/** Opens something for one fixture. */
async function use<T>(opening: Promise<Opened<T>>, onCleanup: OnCleanup): Promise<T> {
  const { value, close } = await opening
  onCleanup(close)
  return value
}

/**
 * Opens at the first call and returns the same from then on: `test.extend` gives each file worker fixtures of
 * its own, and these share what the first of them opened. Vitest closes it when the worker ends.
 */
function oncePerWorker<T>(open: () => Promise<Opened<T>>): (onCleanup: OnCleanup) => Promise<T> {
  let opened: Promise<T> | undefined
  return onCleanup => (opened ??= use(open(), onCleanup))
}

/** Only tests of pages pay for loading Playwright. */
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
