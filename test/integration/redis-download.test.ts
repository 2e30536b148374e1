import { execFile, spawnSync } from 'node:child_process'
import {
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  truncate,
  utimes,
  writeFile
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { Redis } from 'ioredis'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { OperatorError } from '../../src/platform/runtime/operator-error.ts'
import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { readProcessStart } from '../../src/stores/embedded/process-identity.ts'
import { makeAptSource, serverPackage, writeAptConfig } from '../support/apt-source.ts'
import { parentOf, runScript } from '../support/child-process.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { pathWithout } from '../support/hidden-programs.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { openTempFolder, type TempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65_534
const redisNames = /^(redis|valkey)-/

// Each test has a system without a Redis, its own package sources and a new home folder.
let folder: TempFolder
let home: string
let cache: string
let data: string

beforeEach(async () => {
  folder = await openTempFolder()
  home = join(folder.path, 'home')
  cache = join(home, '.cache/cuewire/redis')
  data = join(folder.path, 'data/redis')
  for (const path of [home, data]) await mkdir(path, { recursive: true })
  vi.stubEnv('PATH', await pathWithout(join(folder.path, 'bin'), redisNames))
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CACHE_HOME', undefined)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await folder[Symbol.asyncDispose]()
})

const useSources = async (...sources: string[]) =>
  vi.stubEnv('APT_CONFIG', await writeAptConfig(join(folder.path, 'apt'), sources))

const redis7 = async () =>
  makeAptSource(join(folder.path, 'source'), [serverPackage('redis-server', '7.2.0')])

const failureOf = async (finding: Promise<unknown>): Promise<unknown> =>
  finding.then(
    () => 'no failure',
    error => error
  )

describe.skipIf(whyWithout('apt') !== null)('without a Redis on the system', () => {
  test('a Redis is downloaded once, with its libraries', async () => {
    const server = {
      ...serverPackage('redis-server', '7.2.0'),
      depends: 'libfine1 | libother1, redis-tools, adduser'
    }
    const files = { 'usr/lib/x86_64-linux-gnu/libfine.so.1': 'a library' }
    const source = await makeAptSource(join(folder.path, 'source'), [
      server,
      { name: 'redis-tools', version: '7.2.0', depends: 'libfine1' },
      { name: 'libfine1', version: '1', depends: 'libc6', files },
      { name: 'libother1', version: '1', files: { 'usr/lib/other': '' } },
      { name: 'adduser', version: '3', files: { 'usr/sbin/adduser': '' } },
      { name: 'libc6', version: '2.99', files: { 'usr/lib/x86_64-linux-gnu/libc.so.6': 'not to be used' } }
    ])
    await useSources(source)
    const first = await findOrDownloadRedis(data)
    const [release = ''] = await readdir(cache)
    const root = join(cache, release)
    expect(first).toEqual({
      path: join(root, 'usr/bin/redis-server'),
      command: [
        '/usr/bin/env',
        `LD_LIBRARY_PATH=${root}/usr/lib/x86_64-linux-gnu`,
        join(root, 'usr/bin/redis-server')
      ],
      major: 7
    })
    expect(
      (await readdir(root, { recursive: true })).filter(name => /other|adduser|libc\.so/.test(name))
    ).toEqual([])
    expect((await stat(cache)).mode & 0o777).toBe(0o700)

    await useSources('deb [trusted=yes] file:/does/not/exist ./')
    expect(await findOrDownloadRedis(data)).toEqual(first)
    expect(await readdir(cache)).toEqual([release])
  })

  test.runIf(isDeep)('concurrent starts download one each, and keep one', async () => {
    await useSources(await redis7())
    const found = await Promise.all(Array.from({ length: 6 }, async () => findOrDownloadRedis(data)))
    expect(new Set(found.map(({ path }) => path)).size).toBe(1)
    expect(await readdir(cache)).toHaveLength(1)
  })

  test.runIf(isDeep)(
    'a Redis that does not run is downloaded again, and what killed starts left is removed',
    async () => {
      await useSources(await redis7())
      const { path } = await findOrDownloadRedis(data)
      await truncate(path, 4)
      const [old, recent] = [join(cache, 'download-aaaaaa'), join(cache, 'download-bbbbbb')]
      for (const each of [old, recent]) await mkdir(join(each, 'root'), { recursive: true })
      const longAgo = new Date(Date.now() - 2 * 60 * 60_000)
      await utimes(old, longAgo, longAgo)
      expect((await findOrDownloadRedis(data)).path).toBe(path)
      expect((await readdir(cache)).toSorted()).toEqual([
        basename(dirname(dirname(dirname(path)))),
        'download-bbbbbb'
      ])
    }
  )

  test.runIf(isDeep)('if Redis is too old, Valkey is used', async () => {
    const packages = [serverPackage('redis-server', '6.0.16'), serverPackage('valkey-server', '8.1.1')]
    await useSources(await makeAptSource(join(folder.path, 'source'), packages))
    expect(await findOrDownloadRedis(data)).toMatchObject({
      path: expect.stringMatching(/valkey-server$/),
      major: 8
    })
  })

  test.runIf(isDeep)('an old Redis of the system is ignored', async () => {
    const old = join(folder.path, 'bin/redis-server')
    await writeFile(old, '#!/bin/sh\necho Redis server v=6.0.16\n', { mode: 0o755 })
    await useSources(await redis7())
    expect((await findOrDownloadRedis(data)).path.startsWith(cache)).toBe(true)
    await rm(cache, { recursive: true })
    await useSources()
    await expect(findOrDownloadRedis(data)).rejects.toThrow(
      `${old} is version 6, and none could be downloaded (`
    )
  })

  test.runIf(isDeep)('without a cache folder it is downloaded beside the data', async () => {
    await useSources(await redis7())
    vi.stubEnv('HOME', join(folder.path, 'data/redis/not-a-folder'))
    await writeFile(join(data, 'not-a-folder'), '')
    const { path } = await findOrDownloadRedis(data)
    expect(path.startsWith(join(data, 'program'))).toBe(true)
    expect((await findOrDownloadRedis(data)).path).toBe(path)
  })

  test.runIf(isDeep && isRoot)('a program that another user could change is not run', async () => {
    await useSources(await redis7())
    const { path } = await findOrDownloadRedis(data)
    await chown(cache, nobody, nobody)
    expect((await findOrDownloadRedis(data)).path.startsWith(join(data, 'program'))).toBe(true)
    expect(await stat(path)).toBeDefined()
  })

  test('a failed download is explained in one line', async () => {
    await useSources('deb [trusted=yes] file:/does/not/exist ./')
    const error = await failureOf(findOrDownloadRedis(data))
    expect(error).toBeInstanceOf(OperatorError)
    expect(String(error)).toMatch(
      /^Error: there is no redis-server, and none could be downloaded \(.*\/does\/not\/exist.*\): install Redis or Valkey 7 or later \(sudo apt-get install redis-server\), or set REDIS_URL$/
    )
    expect(await readdir(cache)).toEqual([])

    await rm(join(folder.path, 'bin/apt-get'))
    await expect(findOrDownloadRedis(data)).rejects.toThrow(
      /^there is no redis-server: install Redis or Valkey 7 or later.*, or set REDIS_URL$/
    )
  })

  test.runIf(isDeep)('a modified package is refused', async () => {
    await useSources(await redis7())
    const deb = join(folder.path, 'source/redis-server_7.2.0_all.deb')
    const bytes = await readFile(deb)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    await writeFile(deb, bytes)
    await expect(findOrDownloadRedis(data)).rejects.toThrow('none could be downloaded (apt-get download: ')
    expect(await readdir(cache)).toEqual([])
  })

  test('aborting the start stops the download', async () => {
    await using silent = await startSilentServer()
    await useSources(`deb [trusted=yes] http://127.0.0.1:${silent.port} ./`)
    const abort = new AbortController()
    const finding = failureOf(findOrDownloadRedis(data, abort.signal))
    await waitFor(() => silent.open() > 0, { deadlineMs: 10_000, what: 'apt-get' })
    abort.abort()
    expect(await finding).toMatchObject({ name: 'AbortError' })
    expect(await readdir(cache)).toEqual([])
    await waitFor(() => silent.open() === 0, { deadlineMs: 5_000, what: 'the end of apt-get' })
  })

  test.runIf(isDeep)(
    'any user gets a working one from the sources of the system',
    { timeout: 90_000 },
    async context => {
      const user = isRoot ? { uid: nobody, gid: nobody } : {}
      const unreachable = (await whyNoSources()) ?? whyNotAs(user)
      context.skip(unreachable !== null, unreachable ?? '')
      if (isRoot) for (const path of [home, data]) await chown(path, nobody, nobody)

      const env = { PATH: process.env['PATH'], HOME: home }
      using script = runScript('redis-child.ts', [data], { ...user, env })
      const started = v.object({ url: v.string(), pid: v.number(), uid: v.number() })
      const { url, pid, uid } = v.parse(started, await script.firstLine)
      expect(uid).toBe(isRoot ? nobody : process.getuid?.())
      const redis = new Redis(url)
      try {
        expect(await redis.incr('starts')).toBe(1)
      } finally {
        redis.disconnect()
      }
      const maps = await readFile(`/proc/${pid}/maps`, 'utf8')
      expect(maps).toMatch(new RegExp(`${await realpath(cache)}/.*/libjemalloc\\.so`))
      // No other process loads libraries from there.
      expect(await environmentOf(pid)).toContain('LD_LIBRARY_PATH=')
      expect(await environmentOf(await parentOf(pid))).not.toContain('LD_LIBRARY_PATH=')

      script.child.kill('SIGKILL')
      await waitFor(async () => (await readProcessStart(pid)) === undefined, {
        deadlineMs: 5_000,
        what: 'its end'
      })
    }
  )
})

const environmentOf = async (pid: number): Promise<string> => readFile(`/proc/${pid}/environ`, 'utf8')

/** Returns why the first package source is unreachable, or null. */
async function whyNoSources(): Promise<string | null> {
  const run = promisify(execFile)
  const { stdout } = await run('apt-get', ['--print-uris', 'update'], { timeout: 10_000 })
  const uri = /^'([^']+)'/.exec(stdout)?.[1]
  if (uri === undefined) return 'apt has no sources here'
  const target = join(folder.path, 'release')
  return run('/usr/lib/apt/apt-helper', ['download-file', uri, target], { timeout: 20_000 }).then(
    () => null,
    () => `${uri} cannot be reached`
  )
}

/** Returns why this user cannot run the files of the project, or null. */
function whyNotAs(user: { uid?: number; gid?: number }): string | null {
  const file = join(import.meta.dirname, '../support/redis-child.ts')
  const script = 'require("node:fs").readFileSync(process.argv[1])'
  const { status } = spawnSync(process.execPath, ['-e', script, file], { ...user, timeout: 10_000 })
  return status === 0 ? null : `user ${user.uid} may not enter the project folder or run node`
}
