import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'

import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ensureAdminKey } from '../../src/api/auth/admin-key.ts'
import { assertMediaDir } from '../../src/commands/demo/demo.ts'
import { type Config, parseConfig } from '../../src/config.ts'
import { assertPortIsFree, findFreePort } from '../../src/platform/process/ports.ts'
import { OperatorError } from '../../src/platform/runtime/operator-error.ts'
import { assertPostgresUsable } from '../../src/stores/db/connections/check-postgres.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { findRunningServices, lockDataDir, type StoreUrls } from '../../src/stores/embedded/data-dir.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { connectLive, isDisconnect } from '../support/live-client.ts'
import { readHistory } from '../support/stations.ts'
import { openStoreFolder, type TempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { type Program, rememberAll, runningIn, startProgram } from '../support/whole-program.ts'

// One program runs for all tests, in a folder with an unusual name and far from UTC.
let folder: TempFolder
let dataDir: string
let port: number
let key: string
let program: Program

const playing = v.object({
  now_playing: v.object({ sh_id: v.number(), song: v.object({ title: v.string() }) })
})
const startMs = 50_000
/** A start takes long on a busy machine. */
const longTimeout = { timeout: 60_000 * sized({ quick: 1, deep: 3 }) }

const start = (more: Record<string, string> = {}) =>
  startProgram({ DATA_DIR: dataDir, PORT: String(port), TZ: 'America/New_York', ...more })

beforeAll(async () => {
  folder = await openStoreFolder()
  dataDir = join(folder.path, `it's "radio" \u{1F4FB}`)
  port = await findFreePort()
  program = start()
})

afterAll(async () => {
  program[Symbol.dispose]()
  await waitFor(async () => (await runningIn(folder.path)).length === 0, {
    deadlineMs: 20_000,
    what: 'the end of the embedded services'
  })
  await folder[Symbol.asyncDispose]()
})

test('the first start plays a song and does not log its key', longTimeout, async () => {
  const { song } = (await nowPlaying()).now_playing
  expect(song.title).not.toBe('')
  const isOnAir = () => program.output.stdout.includes('on air')
  await waitFor(isOnAir, { deadlineMs: 20_000, what: 'the announcement' })
  const keyFile = join(dataDir, 'admin-key')
  key = (await readFile(keyFile, 'utf8')).trim()
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
  expect(program.output.stdout).not.toContain(key)
  expect(program.output.stdout).toContain(`"adminKeyFile":${JSON.stringify(keyFile)}`)
  expect(program.output.stderr).toBe('')
  expect((await skip('wrong')).status).toBe(403)
  await skipTo()
  // No terminal, so every line is JSON.
  for (const line of program.output.stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
})

describe('a start fails with one line', longTimeout, () => {
  test('on a folder in use', async () => {
    const main = await program.mainPid()
    expect(await messageOf({ DATA_DIR: dataDir }, lockFolder)).toBe(
      `another cuewire (pid ${main}) is using DATA_DIR ${dataDir}: stop it first, or set another DATA_DIR`
    )
  })
  test('on a port in use', async () => {
    const check = async ({ HOST, PORT }: Config) => assertPortIsFree(HOST, PORT, { timeoutMs: 200 })
    expect(await messageOf({ PORT: String(port) }, check, { boots: true })).toBe(
      `PORT ${port} is in use on 127.0.0.1: stop the program that listens there, or choose another port`
    )
  })
  test('without a Postgres', async () => {
    expect(await messageOf({ DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' }, askPostgres)).toBe(
      'Postgres does not answer at DATABASE_URL (connect ECONNREFUSED 127.0.0.1:1): start it, or correct the URL'
    )
  })
  test('with the wrong password for Postgres', async () => {
    const { databaseUrl } = await services()
    const message = await messageOf({ DATABASE_URL: withWrongPassword(databaseUrl) }, askPostgres)
    expect(message).toContain('the database URL (password authentication failed for user "cuewire"): ')
  })
  test('without a Redis', async () => {
    expect(await messageOf({ REDIS_URL: 'redis://127.0.0.1:1' }, askRedis)).toBe(
      'Redis does not answer at REDIS_URL (connect ECONNREFUSED 127.0.0.1:1): start it, or correct the URL'
    )
  })
  test.for([
    ['something else', () => createHttpServer()],
    ['something that never answers', () => createServer()]
  ] as const)('with %s for Redis', async ([, open]) => {
    await using other = await listening(open())
    const message = await messageOf({ REDIS_URL: `redis://127.0.0.1:${other.port}` }, askRedis)
    expect(message).toMatch(/^Redis does not answer at REDIS_URL \(.+\): start it, or correct the URL$/)
  })
  test('with the wrong password for Redis', async () => {
    const { redisUrl } = await services()
    const message = await messageOf({ REDIS_URL: withWrongPassword(redisUrl) }, askRedis)
    expect(message).toContain('Redis does not answer at REDIS_URL (WRONGPASS')
  })
  test('with a MEDIA_DIR that does not exist', async () => {
    const check = async (config: Config) => assertMediaDir(config.MEDIA_DIR ?? '')
    expect(await messageOf({ MEDIA_DIR: '/not/there' }, check)).toBe(
      'MEDIA_DIR /not/there is not a readable folder (ENOENT): correct or unset it'
    )
  })
  test('with a file for DATA_DIR', async () => {
    const file = join(folder.path, 'file')
    await writeFile(file, '')
    expect(await messageOf({ DATA_DIR: file }, lockFolder)).toBe(
      `DATA_DIR ${file} is not writable (EEXIST): set a writable folder`
    )
  })
  test('with an invalid key file', async () => {
    const broken = join(folder.path, 'broken')
    await mkdir(broken)
    await writeFile(join(broken, 'admin-key'), 'hello')
    const check = async (config: Config) => inDatabase(async sql => ensureAdminKey(sql, config))
    expect(await messageOf({ DATA_DIR: broken }, check)).toBe(
      `${join(broken, 'admin-key')} does not hold a key of the form <16 hex>:<32 hex>: correct or remove it`
    )
  })
  test('with invalid variables', async () => {
    expect(await messageOf({ PORT: 'eighty', LOG_LEVEL: 'loud' }, async () => {})).toMatch(
      /^invalid configuration: PORT is not a number from 1 to 65535; LOG_LEVEL is none of /
    )
  })
})

const parts = ['src/server.js', 'workers/main.js', 'postgres/data', 'redis.conf']
for (const name of sized({ quick: ['src/server.js', 'postgres/data'], deep: parts })) {
  test(`${name} is restarted when it is killed, and the music continues`, longTimeout, async () => {
    const before = await services()
    const [main, first] = [await program.mainPid(), await theOne(name)]
    process.kill(first, 'SIGKILL')
    await waitFor(async () => (await theOne(name)) !== first, { deadlineMs: 20_000, what: 'a new process' })
    await skipTo()
    await endSong()
    expect(await services()).toEqual(before)
    expect(await program.mainPid()).toBe(main)
  })
}

test(
  'all processes end when the program is killed, and an immediate second start continues',
  longTimeout,
  async () => {
    const { now_playing: before } = await nowPlaying()
    const all = await rememberAll(program)
    const killed = program
    process.kill(await killed.mainPid(), 'SIGKILL')
    expect(await exitOf(killed.runner)).toBe(137)

    program = start({ SERVER_PROCESSES: '2' })
    expect((await nowPlaying()).now_playing.sh_id).toBeGreaterThanOrEqual(before.sh_id)
    await waitFor(async () => (await all.stillThere()).length === 0, {
      deadlineMs: 20_000,
      what: 'the end of all'
    })
    await waitFor(() => program.output.stdout.includes('on air'), {
      deadlineMs: 20_000,
      what: 'the announcement'
    })
    expect(program.output.stdout).not.toContain(key)
    expect(program.output.stderr).toBe('')
    expect(await program.pidsOf('src/server.js')).toHaveLength(2)
    await skipTo()

    const history = await inDatabase(sql => readHistory(sql, 1))
    expect(history.length).toBeGreaterThanOrEqual(sized({ quick: 6, deep: 10 }))
    expect(history.map(row => row.endedAtMs)).toEqual([...history.slice(1).map(row => row.startedAtMs), null])
  }
)

test('on SIGTERM subscribers are disconnected and all processes end', async () => {
  const client = connectLive(`ws://127.0.0.1:${port}/api/live/nowplaying/websocket`)
  await waitFor(() => client.socket.readyState === client.socket.OPEN, {
    deadlineMs: 20_000,
    what: 'a connection'
  })
  const all = await rememberAll(program)
  const sinceMs = Date.now()
  program.runner.kill('SIGTERM')
  expect(await client.until(isDisconnect)).toMatchObject({ disconnect: { code: 3001 } })
  expect((await client.closed).code).toBe(1001)
  const code = await program.ended
  expect(stopCodes(Date.now() - sinceMs)).toContain(code)
  expect(await all.stillThere()).toEqual([])
  expect(program.output.stderr).toBe('')
  expect(await readdir(join(dataDir, 'lock'))).toEqual([])
})

test('a start that is interrupted stops and leaves no processes', longTimeout, async () => {
  const path = join(folder.path, 'new')
  const signs = ['postgres/init-', 'postgres/data/postmaster.pid', 'redis/redis.pid']
  for (const sign of sized({ quick: [pickOne(signs)], deep: signs })) {
    using half = start({ DATA_DIR: path })
    await waitFor(() => isThere(path, sign), { deadlineMs: startMs, what: sign })
    const sinceMs = Date.now()
    half.runner.kill('SIGINT')
    const code = await half.ended
    const tookMs = Date.now() - sinceMs
    expect(stopCodes(tookMs)).toContain(code)
    const left = await runningIn(path)
    expect({ sign, left, ...half.output }).toEqual({ sign, left: [], stdout: '', stderr: '' })
  }
})

/** On a busy machine a process may need more than 4.5 seconds to stop, which is exit code 1. */
const stopCodes = (tookMs: number) => (tookMs < 4_500 ? [0] : [0, 1])

const pickOne = <Item>(items: readonly Item[]) => {
  const item = items[Math.floor(Math.random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

async function isThere(path: string, beginning: string): Promise<boolean> {
  const names = await readdir(path, { recursive: true })
  return names.some(name => name.startsWith(beginning))
}

const lockFolder = async (config: Config) => lockDataDir(config.DATA_DIR)
const askRedis = async (config: Config) => resolveRedisPlace(config.REDIS_URL ?? '')

const askPostgres = async (config: Config) => assertPostgresUsable(config.DATABASE_URL ?? '')

const withWrongPassword = (url: string) => url.replace(/:[0-9a-f]+@/, ':wrong@')

/**
 * Returns the error of a check with these variables. With `boots`, and always in the deep tier, a whole program must
 * end with the same line.
 */
async function messageOf(
  variables: Readonly<Record<string, string>>,
  check: (config: Config) => Promise<unknown>,
  { boots = isDeep } = {}
): Promise<string> {
  const checking = async () => check(parseConfig(variables))
  const error: unknown = await checking().then(
    () => undefined,
    reason => reason
  )
  if (!(error instanceof OperatorError))
    throw new Error('the check passed, or failed in another way', { cause: error })
  if (boots) await expectOneLine(error.message, variables)
  return error.message
}

/** Runs a program that is expected to fail with one line. */
async function expectOneLine(message: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const own = await services()
  const path = join(folder.path, `data-${Math.random()}`)
  using failing = startProgram({
    DATA_DIR: path,
    PORT: String(await findFreePort()),
    // Reuses the running stores, which is faster.
    DATABASE_URL: own.databaseUrl,
    REDIS_URL: own.redisUrl,
    ...variables
  })
  expect(await failing.ended).toBe(1)
  // Another server than Redis is detected by its reply or by the end of the connection.
  const withoutReason = (text: string) => text.replace(/\(.+\)/, '()')
  expect(failing.output.stdout).toBe('')
  expect(withoutReason(failing.output.stderr)).toBe(withoutReason(`cuewire: ${message}\n`))
}

async function services(): Promise<StoreUrls> {
  return waitFor(() => findRunningServices(dataDir), { deadlineMs: startMs, what: 'services.json' })
}

/** Waits until the demo station plays and returns its document. */
async function nowPlaying(): Promise<v.InferOutput<typeof playing>> {
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/nowplaying/demo`)
    const body = v.parse(playing, await response.json())
    return body.now_playing.song.title !== '' && body
  }
  return waitFor(ask, { deadlineMs: startMs, what: 'a song' })
}

function skip(apiKey: string): Promise<Response> {
  const init = { method: 'POST', headers: { 'X-API-Key': apiKey } }
  return fetch(`http://127.0.0.1:${port}/api/station/demo/backend/skip`, init)
}

/** Skips, and waits until the next song is published. */
async function skipTo(): Promise<void> {
  const { sh_id: before } = (await nowPlaying()).now_playing
  await waitFor(async () => (await skip(key)).status === 200, { deadlineMs: 20_000, what: 'a skip' })
  const hasChanged = async () => (await nowPlaying()).now_playing.sh_id > before
  await waitFor(hasChanged, { deadlineMs: 20_000, what: 'the next song' })
}

/** Ends the current song now, and waits until the workers have started the next. */
async function endSong(): Promise<void> {
  const { sh_id: before } = (await nowPlaying()).now_playing
  await inDatabase(sql => sql`update song_history set due_at_ms = ${Date.now()} where ended_at_ms is null`)
  const hasChanged = async () => (await nowPlaying()).now_playing.sh_id > before
  await waitFor(hasChanged, { deadlineMs: 20_000, what: 'the song after the end of one' })
}

/** The pid of a process of the program, not of its children. */
async function theOne(name: string): Promise<number> {
  return waitFor(async () => (await program.pidsOf(name))[0], { deadlineMs: 20_000, what: name })
}

async function inDatabase<Result>(ask: (sql: Sql) => PromiseLike<Result>): Promise<Result> {
  const sql = openSql((await services()).databaseUrl, { max: 1, name: 'test' })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function exitOf(runner: Program['runner']): Promise<number | null> {
  if (runner.exitCode !== null) return Promise.resolve(runner.exitCode)
  return new Promise(resolve => runner.once('exit', resolve))
}

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<{ destroy: () => void }>()
  server.on('connection', socket => sockets.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
