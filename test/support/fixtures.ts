import { randomBytes } from 'node:crypto'

import { Redis } from 'ioredis'
import postgres from 'postgres'
import { test as base, inject } from 'vitest'

import { openSql } from '../../src/db/sql.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { startRedis } from '../../src/embedded/redis.ts'
import { openStage } from './live-stage.ts'
import { startProgram, startServer } from './program.ts'
import { openTempFolder } from './temp-folder.ts'

/**
 * The `test` of integration tests. A test gets only what it names in its first argument:
 *
 * - `databaseUrl`, `sql`: a migrated, empty database of its own, and a pool on it
 * - `redisUrl`, `redis`: the Redis of its file, emptied before the test, and a client on it
 * - `program`: a server and workers that the tests of a file share, on a database and a Redis of their own; a file may give its
 *   server more variables by another `serverVariables`
 * - `stage`: a server without workers that the tests of a file share, and stations they put into its Redis
 */
export const test = base
  // Vitest finds out what a fixture needs by reading the pattern of its first argument, so there must be one.
  // oxlint-disable-next-line no-empty-pattern
  .extend('databaseUrl', async ({}, { onCleanup }) => {
    const database = await copyTemplate()
    onCleanup(database.drop)
    return database.url
  })
  .extend('sql', async ({ databaseUrl }, { onCleanup }) => {
    const sql = openSql(databaseUrl, { max: 5, name: 'test' })
    onCleanup(async () => sql.end({ timeout: 5 }))
    return sql
  })
  // oxlint-disable-next-line no-empty-pattern
  .extend('redisOfFile', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await openTempFolder()
    const service = await startRedis(folder.path)
    onCleanup(async () => {
      await service.stop()
      await folder[Symbol.asyncDispose]()
    })
    return service.url
  })
  .extend('redisUrl', async ({ redisOfFile }) => {
    const redis = new Redis(redisOfFile)
    await redis.flushall()
    await redis.quit()
    return redisOfFile
  })
  .extend('redis', async ({ redisUrl }, { onCleanup }) => {
    const redis = new Redis(redisUrl)
    onCleanup(() => redis.disconnect())
    return redis
  })
  // oxlint-disable-next-line no-empty-pattern
  .extend('serverVariables', { scope: 'file' }, async ({}): Promise<Record<string, string>> => ({}))
  .extend('program', { scope: 'file' }, async ({ redisOfFile, serverVariables }, { onCleanup }) => {
    const database = await copyTemplate()
    const folder = await openTempFolder()
    const program = await startProgram(database.url, redisOfFile, folder.path, serverVariables)
    onCleanup(async () => {
      await program[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
      await database.drop()
    })
    return program
  })
  .extend('stage', { scope: 'file' }, async ({ redisOfFile }, { onCleanup }) => {
    const database = await copyTemplate()
    const folder = await openTempFolder()
    const PORT = String(await freePort())
    const start = () => startServer(database.url, redisOfFile, folder.path, { PORT })
    const stage = openStage(await start(), redisOfFile, start)
    onCleanup(async () => {
      stage[Symbol.dispose]()
      await folder[Symbol.asyncDispose]()
      await database.drop()
    })
    return stage
  })

/** A migrated, empty database under a name of its own. */
async function copyTemplate() {
  const template = new URL(inject('templateUrl'))
  const name = `cuewire_test_${randomBytes(6).toString('hex')}`
  const server = openServer(template)
  await server`create database ${server(name)} template ${server(template.pathname.slice(1))}`
  const url = new URL(template)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: async () => {
      await server`drop database if exists ${server(name)} with (force)`
      await server.end({ timeout: 5 })
    }
  }
}

/** A connection beside the template: nobody may be connected to a database while it is copied. */
function openServer(template: URL): postgres.Sql {
  const url = new URL(template)
  url.pathname = '/postgres'
  return postgres(url.href, { max: 1, onnotice: () => {} })
}
