/**
 * Compares the answers of an older release in the documented dialect with those of this one, byte by byte, on copies of
 * one database:
 *
 *     git worktree add ../older v0.2.0 && (cd ../older && npm ci && npm run build)
 *     node scripts/run.mjs test/by-hand/compare-releases/main.ts ../older
 *
 * Times, random ids and keys are masked (`responses.ts`). Exits with 1 if there are differences that `intended` does not
 * list.
 */
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { openSql, type Sql } from '../../../src/stores/db/sql.ts'
import { startPostgres } from '../../../src/stores/embedded/postgres.ts'
import { startRedis } from '../../../src/stores/embedded/redis.ts'
import { anyAddress } from '../../support/people.ts'
import { askPlainly } from '../../support/plain-http.ts'
import { adminKey, type RunningServer, startServer } from '../../support/program.ts'
import { seedStations } from '../../support/stations.ts'
import { openTempFolder } from '../../support/temp-folder.ts'
import { waitFor } from '../../support/wait.ts'
import { startWorkers } from '../../support/worker-process.ts'
import { type Compare, compareOperations, compareReads, compareRecords } from './requests.ts'
import { type ComparedResponse, findDifferences } from './responses.ts'

const variables = { BASE_URL: 'https://radio.example.com', DEMO: 'off' }

interface Pair extends AsyncDisposable {
  readonly server: RunningServer
}

interface Folders {
  readonly redis: string
  readonly data: string
}

/** Starts a server and workers of a release (of this one without a folder), with an empty Redis. */
async function startPair(databaseUrl: string, folders: Folders, release?: string): Promise<Pair> {
  const redis = await startRedis(folders.redis)
  const workers = startWorkers(databaseUrl, redis.url, { ...variables, DATA_DIR: folders.data }, release)
  workers.stderr?.pipe(process.stderr)
  const server = await startServer(databaseUrl, redis.url, folders.data, variables, release)
  return {
    server,
    async [Symbol.asyncDispose]() {
      for (const child of [server.process, workers]) {
        const hasExited = new Promise(resolve_ => child.once('exit', resolve_))
        child.kill('SIGTERM')
        await hasExited
      }
      await redis.stop()
    }
  }
}

/** Two stations whose songs last longer than the comparison, with records of all kinds, history and requests. */
async function seed(sql: Sql, { ask }: RunningServer): Promise<void> {
  const stations = await seedStations(sql, { stations: 2, songMs: 3_600_000, queueLength: 5 })
  await sql`update playlists set "order" = 'sequential'`
  await sql`update stations set short_name = 'station_' || id, enable_streamers = true`
  for (const { id } of stations) {
    const write = async (path: string, body: object) => {
      const { status, body: response } = await ask('POST', `/api/station/${id}${path}`, { body })
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(response)}`)
    }
    await write('/streamers', { streamer_username: `wren_${id}`, display_name: 'Wren' })
    await write('/remotes', { name: 'Oslo', url: 'https://relay.example.com/main.mp3' })
    await write('/webhooks', {
      name: 'Chat',
      type: 'generic',
      config: [{ key: 'webhook_url', value: 'https://hook.invalid/' }]
    })
    await write('/files', { path: 'a/b.mp3', title: 'B', artist: 'A', length: 61 })
    await write('/hls_streams', { name: '/hls/high' })
    await sql`
      insert into song_history (station_id, song_id, artist, title, started_at_ms, ended_at_ms, is_visible)
      select ${id}, md5(x::text), 'Past', 'Song ' || x, 1750000000000 + x * 200000, 1750000000000 + x * 200000 + 180000, true
      from generate_series(1, 50) x`
    await sql`
      insert into broadcasts (station_id, username, streamer_name, started_at_ms, ended_at_ms)
      values (${id}, 'wren', 'Wren', 1750000000000, 1750003600000)`
  }
  await ask('POST', '/api/admin/custom_fields', { body: { name: 'Mood', short_name: 'mood' } })
  await untilOnline({ ask }, 'the seeded stations to play')
}

const untilOnline = ({ ask }: Pick<RunningServer, 'ask'>, what: string) =>
  waitFor(
    async () => {
      const { status, body } = await ask('GET', '/api/nowplaying')
      return (
        status === 200 &&
        body.length === 2 &&
        body.every(({ is_online: isOnline }: { is_online: boolean }) => isOnline)
      )
    },
    { deadlineMs: 30_000, what }
  )

/** Their answers describe the program, are scripts for playouts, or do not end. */
const notCompared =
  /^\/api\/(?:openapi\.(?:json|yml)|stats|prometheus|health|live\/.*|admin\/server\/stats|admin\/station\/[^/]+\/liquidsoap(?:\/.*)?)$/

/** Differences that are intended, by request and difference, since 0.2.0. */
const intended: readonly (readonly [RegExp, string])[] = [
  [/ header access-control-expose-headers: /, 'browsers may read more headers'],
  [/\/files\/bulk.* body "/, 'a table begins with a byte order mark'],
  [/\/liquidsoap-config.* body .*Liquidsoap 2\.1 or newer/, 'the script names the versions of Liquidsoap'],
  [
    /\/soundexchange.* header cuewire-untitled-plays: absent/,
    'plays without a title are left out and counted'
  ],
  [/\/order body .*spm_id/, 'entries of a playlist have ids, because songs may be repeated'],
  [/ \/api\/status header x-installation: absent/, 'the doctor recognizes its own installation'],
  [/\/webhook.* body .*(?:consecutive_failures|attempts)/, 'deliveries are retried meanwhile'],
  [
    / header vary: (?:absent|.*) became (?:.*, )?X-API-Key, Authorization(?:, Cookie)?$/,
    'answers depend on the dialect of the key'
  ],
  [/generic_song\.jpg header cache-control: /, 'an operator may replace the picture'],
  [/\/deliveries.* body .*EVENT/, 'events of one millisecond have no order'],
  [
    /notifications.* body .*(?:Storage cannot be measured|by_type)/,
    'the storages of the requests are measured meanwhile'
  ],
  [/ \/api\/admin\/auditlog| \/log\/changes/, 'the audit log has names, values, and more changes']
]

/** Limits are per second; what is made in the background takes a moment. */
const attempts = 5
const retryMs = 500
const responseMs = 30_000

async function errorOf({ baseUrl }: RunningServer, { method, path, body }: Parameters<Compare>[0]) {
  for (let attempt = 1; ; attempt++) {
    const response = await askPlainly(baseUrl + path, {
      method,
      signal: AbortSignal.timeout(responseMs),
      headers: {
        'X-API-Key': adminKey,
        'X-Forwarded-For': anyAddress(),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' })
      },
      body: body === undefined ? undefined : JSON.stringify(body)
    })
    if (attempt < attempts && (response.status === 429 || response.status === 202)) {
      await wait(retryMs)
      continue
    }
    const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
    const compared: ComparedResponse = {
      status: response.status,
      headers: Object.fromEntries(headers),
      body: response.body.toString('latin1')
    }
    return compared
  }
}

async function main(olderFolder: string): Promise<number> {
  await using folder = await openTempFolder()
  const at = (name: string) => `${folder.path}/${name}`
  const service = await startPostgres(at('postgres'), { durable: false })
  const olderUrl = service.url
  const newerUrl = service.url.replace(/[^/]+$/, 'newer')
  const server = postgres(service.url.replace(/[^/]+$/, 'postgres'), { max: 1, onnotice: () => {} })
  try {
    {
      await using first = await startPair(olderUrl, { redis: at('redis'), data: at('data') }, olderFolder)
      const sql = openSql(olderUrl, { max: 2, name: 'comparison' })
      await seed(sql, first.server)
      await sql.end()
    }
    const name = new URL(olderUrl).pathname.slice(1)
    await server`create database newer template ${server(name)}`
    await using older = await startPair(
      olderUrl,
      { redis: at('redis-older'), data: at('data-older') },
      olderFolder
    )
    await using newer = await startPair(newerUrl, { redis: at('redis-newer'), data: at('data-newer') })
    await untilOnline(older.server, 'the older release')
    await untilOnline(newer.server, 'this release')

    let responses = 0
    const kinds = new Map<string, string[]>()
    const reasons = new Map<string, number>()
    const ask = async (request: Parameters<Compare>[0]) => {
      const [before, after] = await Promise.all([
        errorOf(older.server, request),
        errorOf(newer.server, request)
      ])
      return { before, differences: findDifferences(before, after) }
    }
    const compare: Compare = async request => {
      const { method, path } = request
      if (notCompared.test(path)) return null
      let { before, differences } = await ask(request)
      responses += 1
      if (method === 'GET' && differences.length > 0) {
        // Changes are published a moment after they are written.
        await wait(retryMs)
        ;({ before, differences } = await ask(request))
      }
      for (const difference of differences) {
        const call = `${method} ${path}`
        const reason = intended.find(([pattern]) => pattern.test(`${call} ${difference}`))?.[1]
        if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        else
          kinds.set(difference, [...(kinds.get(difference) ?? []), `${call} ${JSON.stringify(request.body)}`])
      }
      const id = /^\{(?:[^[{]*,)?"id":"?([\w-]+)/.exec(before.body)?.[1]
      return id ?? null
    }
    const { body: document } = await older.server.ask('GET', '/api/openapi.json')
    const reads = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      'get' in methods ? [path] : []
    )
    await compareReads(compare, reads, ['1', 'station_2', 'unknown'], { station: '1' })
    await compareRecords(compare, '1')
    await compareOperations(compare, '1')
    await compareReads(compare, reads, ['1'], { station: '1' })

    for (const [difference, calls] of kinds)
      print(`${difference}\n    ${calls.length} times: ${[...new Set(calls)].slice(0, 4).join('\n    ')}`)
    for (const [reason, count] of reasons) print(`intended, ${count} times: ${reason}`)
    print(`${responses} answers compared, ${kinds.size} kinds of differences that are not intended`)
    return kinds.size === 0 ? 0 : 1
  } finally {
    await server.end()
    await service.stop()
  }
}

const [olderFolder] = process.argv.slice(2)
if (olderFolder === undefined) {
  print('usage: node scripts/run.mjs test/by-hand/compare-releases/main.ts OLDER')
  process.exit(1)
}
process.exitCode = await main(resolve(olderFolder))

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
