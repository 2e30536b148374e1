import { appendFile, chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { Redis } from 'ioredis'
import postgres from 'postgres'
import * as v from 'valibot'
import { test as base, expect } from 'vitest'

import { type ProgramOutage, superviseProgram } from '../../src/platform/process/supervise.ts'
import { OperatorError } from '../../src/platform/runtime/operator-error.ts'
import { writeRunningServices, findRunningServices, lockDataDir } from '../../src/stores/embedded/data-dir.ts'
import type { EmbeddedService, EmbeddedServiceOptions } from '../../src/stores/embedded/embedded-service.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { readProcessStart } from '../../src/stores/embedded/process-identity.ts'
import { startRedis } from '../../src/stores/embedded/redis.ts'
import { childrenOf, parentOf, runScript } from '../support/child-process.ts'
import { copyFolder, openStoreFolder, openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const pids = v.object({ postgres: v.number(), redis: v.number() })
const isRootOnLinux = process.platform === 'linux' && process.getuid?.() === 0

const test = base
  /** A cluster that is created once per file, after an interrupted creation. */
  // oxlint-disable-next-line no-empty-pattern
  .extend('cluster', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await openStoreFolder()
    onCleanup(folder[Symbol.asyncDispose])
    const path = join(folder.path, 'postgres')
    await mkdir(join(path, 'init-dead', 'data'), { recursive: true })
    const service = await startPostgres(path, { durable: false })
    await service.stop()
    return path
  })
  /**
   * A folder that has a copy of the cluster in the quick tier, since `initdb` takes longer than most of the
   * tests.
   */
  .extend('folder', async ({ cluster }, { onCleanup }) => {
    const folder = await openStoreFolder()
    onCleanup(folder[Symbol.asyncDispose])
    if (!isDeep) await copyFolder(cluster, join(folder.path, 'postgres'))
    return folder
  })

test('data of another major version of Postgres are refused with the way to upgrade', async () => {
  await using folder = await openTempFolder()
  const data = join(folder.path, 'data')
  await mkdir(data)
  await writeFile(join(data, 'PG_VERSION'), '17\n')
  await expect(startPostgres(folder.path)).rejects.toThrow(
    /is of Postgres 17, and this release has Postgres 18: write a backup/
  )
})

/** `count` increments a counter in the service and returns it. */
const services: Record<
  'Postgres' | 'Redis',
  {
    start: (
      folder: string,
      options?: EmbeddedServiceOptions & { durable?: boolean }
    ) => Promise<EmbeddedService>
    count: (url: string) => Promise<number>
  }
> = {
  Postgres: {
    start: async (folder, options) => startPostgres(join(folder, 'postgres'), options),
    count: async url => {
      const sql = postgres(url, { max: 1, onnotice: () => {} })
      try {
        await sql`create table if not exists starts ()`
        await sql`insert into starts default values`
        const [row] = await sql<{ count: number }[]>`select count(*)::int from starts`
        return row?.count ?? 0
      } finally {
        await sql.end({ timeout: 5 })
      }
    }
  },
  Redis: {
    start: async (folder, options) => startRedis(join(folder, 'redis'), options),
    count: async url => {
      const redis = new Redis(url)
      try {
        return await redis.incr('starts')
      } finally {
        redis.disconnect()
      }
    }
  }
}

for (const [name, { start, count }] of Object.entries(services)) {
  test(`${name} keeps its data over a restart`, async ({ folder }) => {
    const first = await start(folder.path)
    expect(await count(first.url)).toBe(1)
    await first.stop()
    await first.exited
    expect(await readProcessStart(first.pid)).toBeUndefined()

    await using second = await start(folder.path)
    expect(await count(second.url)).toBe(2)
  })

  test.runIf(isDeep || name === 'Postgres')(
    `${name} recovers after it and its guard were killed`,
    async ({ folder }) => {
      const first = await start(folder.path)
      await count(first.url)
      const guard = await parentOf(first.pid)
      process.kill(guard, 'SIGKILL')
      process.kill(first.pid, 'SIGKILL')
      await first.exited

      await using second = await start(folder.path)
      expect(await count(second.url)).toBe(2)
      await first.stop()
    }
  )

  test.runIf(isDeep || name === 'Redis')(`${name} ends when only its guard is killed`, async ({ folder }) => {
    await using service = await start(folder.path, { durable: false })
    process.kill(await parentOf(service.pid), 'SIGKILL')
    await expect(service.exited).resolves.toBeNull()
    await waitFor(async () => (await readProcessStart(service.pid)) === undefined, {
      deadlineMs: 15_000,
      what: 'its end'
    })
  })

  test(`${name} fails with one line if the given port is in use`, async () => {
    await using folder = await openTempFolder()
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      const options = { port, durable: false }
      const starting =
        name === 'Redis' ? startRedis(folder.path, options) : startPostgres(folder.path, options)
      const error: unknown = await starting.then(
        () => undefined,
        reason => reason
      )
      expect(error).toBeInstanceOf(OperatorError)
      expect(String(error)).toBe(
        `Error: ${name} port ${port} is in use on 127.0.0.1: stop the program that listens there, or choose another port`
      )
    } finally {
      server.close()
    }
  })
}

test('a service that cannot be restarted is retried until it can', async () => {
  await using folder = await openTempFolder()
  const life = new AbortController()
  const outages: ProgramOutage[] = []
  let service: EmbeddedService | undefined
  const supervised = await superviseProgram<EmbeddedService>(
    async (signal, first) => (service = await startRedis(folder.path, { port: first?.port, signal })),
    { firstMs: 0, minMs: 1_000, maxMs: 30_000, life: life.signal, onOutage: outage => outages.push(outage) }
  )
  const first = service
  if (!first) throw new Error('redis was not started')
  const blocker = createServer()
  await first.stop()
  await new Promise<void>(resolve => blocker.listen(first.port, '127.0.0.1', resolve))
  await waitFor(() => outages.length > 2, { deadlineMs: 15_000, what: 'several attempts' })
  await new Promise(resolve => blocker.close(resolve))
  await waitFor(() => service !== first, { deadlineMs: 15_000, what: 'a start' })
  const redis = new Redis(supervised.first.url)
  expect(await redis.ping()).toBe('PONG')
  redis.disconnect()
  expect(outages.map(({ cause }) => cause).slice(0, 3)).toEqual(['ended', 'not-started', 'not-started'])
  expect(outages[1]?.output).toContain(`Redis port ${first.port} is in use on 127.0.0.1`)
  const pauses = outages.slice(0, 3).map(({ retryMs }) => retryMs)
  expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses)
  await supervised.stop()
  expect(await readProcessStart(service?.pid ?? 0)).toBeUndefined()
})

test('both services disappear when their parent is killed', async ({ folder }) => {
  using script = runScript('embedded-child.ts', [folder.path])
  const service = v.parse(pids, await script.firstLine)
  expect(await findRunningServices(folder.path)).toEqual({
    databaseUrl: expect.stringMatching(/^postgres:/),
    redisUrl: expect.stringMatching(/^redis:/)
  })
  await expect(lockDataDir(folder.path)).rejects.toThrow(
    `another cuewire (pid ${script.child.pid}) is using DATA_DIR ${folder.path}`
  )
  script.child.kill('SIGKILL')
  for (const [what, pid] of Object.entries(service)) {
    await waitFor(async () => (await readProcessStart(pid)) === undefined, {
      deadlineMs: 15_000,
      what: `the end of ${what}`
    })
  }
  expect(await findRunningServices(folder.path)).toBeUndefined()
})

test('services without parent and guard are stopped and replaced', async ({ folder }) => {
  using script = runScript('embedded-child.ts', [folder.path])
  const left = v.parse(pids, await script.firstLine)
  for (const pid of Object.values(left)) {
    const guard = await parentOf(pid)
    const watchers = (await childrenOf(guard)).filter(child => child !== pid)
    for (const victim of [guard, ...watchers]) process.kill(victim, 'SIGSTOP')
    script.child.once('exit', () => {
      for (const victim of [...watchers, guard]) process.kill(victim, 'SIGKILL')
    })
  }
  script.child.kill('SIGKILL')
  await waitFor(() => script.child.signalCode !== null, { deadlineMs: 15_000, what: 'the end of the parent' })
  expect(await readProcessStart(left.postgres)).toBeDefined()
  expect(await readProcessStart(left.redis)).toBeDefined()

  await using lock = await lockDataDir(folder.path)
  await using sql = await services.Postgres.start(lock.folder, { durable: false })
  await using redis = await services.Redis.start(lock.folder)
  expect(await readProcessStart(left.postgres)).toBeUndefined()
  expect(await readProcessStart(left.redis)).toBeUndefined()
  expect(await services.Postgres.count(sql.url)).toBe(1)
  expect(await services.Redis.count(redis.url)).toBe(1)
})

test('a cluster whose creation was interrupted is created again', async ({ cluster }) => {
  expect((await readdir(cluster)).toSorted()).toEqual(['data', 'password'])
  await using folder = await openTempFolder()
  await copyFolder(cluster, join(folder.path, 'postgres'))
  await using service = await services.Postgres.start(folder.path, { durable: false })
  expect(await services.Postgres.count(service.url)).toBe(1)
})

test('only Postgres can read its data, and only this user the passwords', async ({ folder }) => {
  await using sql = await services.Postgres.start(folder.path, { durable: false })
  await using redis = await services.Redis.start(folder.path)
  const modeOf = async (path: string): Promise<string> =>
    ((await stat(join(folder.path, path))).mode & 0o777).toString(8)
  expect(await modeOf('postgres/data')).toBe('700')
  expect(await modeOf('postgres/password')).toBe('600')
  expect(await modeOf('redis')).toBe('700')
  expect(await modeOf('redis/redis.conf')).toBe('600')
  const withoutPassword = postgres(sql.url.replace(/:[0-9a-f]+@/, ':wrong@'), { max: 1 })
  await expect(withoutPassword`select 1`).rejects.toThrow('password authentication failed')
  const unauthenticated = new Redis(redis.port)
  unauthenticated.on('error', () => {})
  await expect(unauthenticated.ping()).rejects.toThrow('NOAUTH')
  unauthenticated.disconnect()
})

test('a Redis whose last write was truncated in a crash starts', async () => {
  await using folder = await openTempFolder()
  const first = await services.Redis.start(folder.path)
  await services.Redis.count(first.url)
  await first.stop()
  const log = join(folder.path, 'redis', 'appendonlydir')
  const [part] = (await readdir(log)).filter(name => name.endsWith('.incr.aof'))
  await appendFile(join(log, part ?? ''), '*3\r\n$3\r\nSET\r\n$6\r\nsta')
  await using second = await services.Redis.start(folder.path)
  expect(await services.Redis.count(second.url)).toBe(2)
})

test.runIf(isDeep && isRootOnLinux)(
  'root starts Postgres in a private folder, and again once it is accessible',
  async () => {
    await using closed = await openTempFolder(0o700)
    const first = await services.Postgres.start(closed.path, { durable: false })
    expect(await services.Postgres.count(first.url)).toBe(1)
    await first.stop()
    expect((await stat(join(closed.path, 'postgres/data'))).uid).toBe(0)
    await chmod(closed.path, 0o755)
    const second = await services.Postgres.start(closed.path, { durable: false })
    expect(await services.Postgres.count(second.url)).toBe(2)
    await second.stop()
    expect((await stat(join(closed.path, 'postgres/data'))).uid).not.toBe(0)
    await chmod(closed.path, 0o700)
    await using third = await services.Postgres.start(closed.path, { durable: false })
    expect(await services.Postgres.count(third.url)).toBe(3)
  }
)

test('a folder is locked once, also within one process, until it is released', async () => {
  await using folder = await openTempFolder()
  const path = join(folder.path, 'new', 'data')
  const lock = await lockDataDir(path)
  await writeRunningServices(path, { databaseUrl: 'postgres://a', redisUrl: 'redis://b' })
  expect(await findRunningServices(path)).toEqual({ databaseUrl: 'postgres://a', redisUrl: 'redis://b' })
  expect((await stat(join(path, 'services.json'))).mode & 0o777).toBe(0o600)
  await expect(lockDataDir(path)).rejects.toThrow(
    `another cuewire (pid ${process.pid}) is using DATA_DIR ${path}`
  )
  await lock[Symbol.asyncDispose]()
  expect(await findRunningServices(path)).toBeUndefined()
  await using again = await lockDataDir(path)
  expect(again.folder).toBe(path)
})

test.runIf(isDeep)(
  'at most one of several concurrent starts locks the folder, and killed processes do not block it',
  async () => {
    await using folder = await openTempFolder()
    const scripts = Array.from({ length: 4 }, () => runScript('embedded-child.ts', [folder.path, 'lock']))
    try {
      const responses = await Promise.all(scripts.map(async script => script.firstLine))
      expect(
        responses.filter(response => v.is(v.object({ locked: v.literal(true) }), response)).length
      ).toBeLessThan(2)
    } finally {
      for (const script of scripts) script[Symbol.dispose]()
    }
    const ended = () => scripts.every(({ child }) => child.exitCode !== null || child.signalCode !== null)
    await waitFor(ended, { deadlineMs: 15_000, what: 'the end of the starters' })
    await using lock = await lockDataDir(folder.path)
    expect(await readdir(join(lock.folder, 'lock'))).toHaveLength(1)
  }
)

test('a DATA_DIR that cannot be created fails with one line', async () => {
  await using folder = await openTempFolder()
  await appendFile(join(folder.path, 'file'), '')
  const path = join(folder.path, 'file', 'data')
  await expect(lockDataDir(path)).rejects.toThrow(`DATA_DIR ${path} is not writable (ENOTDIR)`)
})
