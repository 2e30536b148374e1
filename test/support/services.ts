import { appendFileSync } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import postgres from 'postgres'
import type { TestProject } from 'vitest/node'

import { migrateSchema } from '../../src/stores/db/migrate.ts'
import { openSql } from '../../src/stores/db/sql.ts'
import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { cpuByChild } from './cpu-of-processes.ts'
import { prepareTemplate } from './databases.ts'
import { serveSharedProgram } from './shared-program.ts'
import { copyFolder, openStoreFolder, openTempFolder } from './temp-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated database without connections, of which tests use copies. */
    templateUrl: string
    /** The URL from which a worker gets the shared program. */
    sharedProgramUrl: string
  }
}

const closers: (() => PromiseLike<unknown>)[] = []

/**
 * One Postgres for all integration tests, or the server of TEST_DATABASE_URL. The schema is migrated once,
 * and Redis is located once. The shared program is started when the first file requests it.
 */
export async function setup(project: TestProject): Promise<void> {
  // When `npm test` is killed, there is no other signal; the services end with this process.
  process.once('disconnect', () => process.exit(1))
  process.channel?.unref()
  try {
    const folder = await openTempFolder()
    closers.push(folder[Symbol.asyncDispose])
    // If Redis must be downloaded, concurrent test files do not download it again.
    await findOrDownloadRedis(join(folder.path, 'redis'))
    const given = process.env['TEST_DATABASE_URL']
    const cluster = given === undefined ? await makeCluster() : ''
    project.provide('clusterFolder', cluster)
    const templateUrl = await openTemplate(given ?? (await startOwn(cluster)))
    project.provide('templateUrl', templateUrl)
    const program = await serveSharedProgram(templateUrl)
    closers.push(program.close)
    project.provide('sharedProgramUrl', program.value)
  } catch (error) {
    await teardown()
    throw error
  }
}

export async function teardown(): Promise<void> {
  profileServices()
  for (const close of closers.splice(0).toReversed()) await close()
}

/** With TEST_PROFILE=FILE, appends a line for Vitest itself and each service that all files share. */
function profileServices(): void {
  const target = process.env['TEST_PROFILE']
  if (target === undefined) return
  for (const { command, seconds } of cpuByChild(process.pid))
    appendFileSync(target, `${JSON.stringify({ service: command, cpuSeconds: seconds })}\n`)
}

/** Created once, for this Postgres and those that tests start. */
async function makeCluster(): Promise<string> {
  const folder = await openStoreFolder()
  closers.push(folder[Symbol.asyncDispose])
  const path = join(folder.path, 'postgres')
  const service = await startPostgres(path, { durable: false })
  await service.stop()
  return path
}

async function startOwn(cluster: string): Promise<string> {
  const folder = await openStoreFolder()
  closers.push(folder[Symbol.asyncDispose])
  const path = join(folder.path, 'postgres')
  await copyFolder(cluster, path)
  // Tests open a thousand connections, and password checks would double the cost of each.
  await writeFile(join(path, 'data', 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  // A table that is analyzed while it is empty is planned as empty, with nested loops.
  await appendFile(join(path, 'data', 'postgresql.conf'), 'autovacuum = off\n')
  const service = await startPostgres(path, { durable: false })
  closers.push(service.stop)
  return service.url
}

async function openTemplate(serverUrl: string): Promise<string> {
  const name = `cuewire_template_${process.pid}`
  const server = postgres(serverUrl, { max: 1, onnotice: () => {} })
  closers.push(async () => server.end({ timeout: 5 }))
  await server`create database ${server(name)}`
  closers.push(async () => server`drop database if exists ${server(name)} with (force)`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const sql = openSql(url.href, { max: 1, name: 'migrate' })
  try {
    await migrateSchema(sql)
    await prepareTemplate(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
  return url.href
}
