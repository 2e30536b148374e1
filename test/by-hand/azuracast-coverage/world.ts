import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startProgram } from '../../../bench/program.ts'
import { findFreePort } from '../../../src/platform/process/ports.ts'
import { openSql, type Sql } from '../../../src/stores/db/sql.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startFakeIcecast } from '../../support/streaming-server.ts'
import { waitFor } from '../../support/wait.ts'
import { startWebServer } from '../../support/web-server.ts'
import { openClient, type Send } from './client.ts'
import type { Json } from './document.ts'
import type { Known } from './plan.ts'

/** A running server with a station that plays. */
export interface World extends AsyncDisposable {
  readonly baseUrl: string
  readonly key: string
  readonly known: Known
  /** Adds what no request can make to what an operation has made. */
  readonly complete: (operationId: string) => Promise<void>
}

const adminKey = '00000000000c0e5a:0000000000000000000000000c0e5a00'

/**
 * Starts the program in the dialect of AzuraCast with the demo station, a streaming server with listeners, a
 * receiver of web hooks, past songs and broadcasts.
 */
export async function startWorld(): Promise<World> {
  const closers: (() => PromiseLike<unknown>)[] = []
  const close = async () => {
    for (const each of closers.splice(0).toReversed()) await each()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'cuewire-coverage-'))
    closers.push(() => rm(folder, { recursive: true, force: true }))
    const receiver = await startWebServer()
    closers.push(receiver[Symbol.asyncDispose])
    const mail = await startMailServer()
    closers.push(mail[Symbol.asyncDispose])
    const icecast = await startFakeIcecast()
    closers.push(icecast[Symbol.asyncDispose])
    icecast.send({
      path: '/radio.mp3',
      title: 'Aria',
      bitrate: 128,
      contentType: 'audio/mpeg',
      listeners: [
        ['203.0.113.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 90],
        ['203.0.113.8', 'VLC/3.0.20 LibVLC/3.0.20', 600]
      ]
    })
    const program = await startProgram(await findFreePort(), {
      env: {
        ADMIN_API_KEY: adminKey,
        API_DIALECT: 'azuracast',
        DEMO: 'on',
        SMTP_URL: mail.url,
        STORAGE_ROOTS: folder,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
      }
    })
    closers.push(() => program.stop())
    const known: Known = {
      storagePath: join(folder, 'music'),
      hookUrl: receiver.url,
      remoteUrl: 'http://127.0.0.1:8100'
    }
    const sql = openSql(program.databaseUrl, { max: 2, name: 'coverage' })
    closers.push(() => sql.end({ timeout: 5 }))
    await seed(openClient(program.baseUrl, adminKey), sql, known, icecast.url, program.baseUrl)
    return {
      baseUrl: program.baseUrl,
      key: adminKey,
      known,
      complete: async operationId => {
        if (operationId === 'addUser' && known['user'] !== undefined) await addPasskey(sql, known)
      },
      [Symbol.asyncDispose]: close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A running server elsewhere. Its first station that is online is used; nothing else is seeded. */
export async function joinWorld(baseUrl: string, key: string): Promise<World> {
  const send = openClient(baseUrl, key)
  const { json } = await send('GET', '/nowplaying')
  const playing = Array.isArray(json) ? json.find(({ is_online }: Json) => is_online) : undefined
  if (playing === undefined) throw new Error(`${baseUrl} has no station that is online`)
  const known = {
    station: playing.station.id,
    storagePath: '/srv/coverage',
    hookUrl: 'https://example.com/hook',
    remoteUrl: 'https://relay.example.com'
  }
  return { baseUrl, key, known, complete: async () => {}, [Symbol.asyncDispose]: async () => {} }
}

async function seed(admin: Send, sql: Sql, known: Known, icecastUrl: string, baseUrl: string): Promise<void> {
  const { json: made } = await admin('POST', '/v1/main/api-keys', {
    body: { name: 'Seed', permissions: ['administer all'], dialect: 'documented' }
  })
  // Writes what the dialect of AzuraCast has no fields for.
  const documented = openClient(baseUrl, String(made.key ?? made.api_key?.key))
  const write = async (method: string, path: string, body: Json) => {
    const { status, json } = await documented(method, path, { body })
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`)
    return json
  }
  const station = await waitFor(
    async () => {
      const { json } = await documented('GET', '/nowplaying')
      return Array.isArray(json) && json.find(({ is_online }: Json) => is_online)?.station.id
    },
    { deadlineMs: 20_000, what: 'the demo station to play' }
  )
  known['station'] = station
  await write('PUT', `/admin/station/${station}`, {
    frontend: 'icecast',
    frontend_url: icecastUrl,
    frontend_admin_password: 'open sesame',
    enable_streamers: true
  })
  const stream = await write('POST', '/admin/stations', { name: 'Stream', backend: 'none' })
  known['streamStation'] = stream.id
  await sql`update hls_streams set is_visible_on_public_pages = true where station_id = ${station}`
  await write('POST', `/station/${station}/remotes`, { name: 'Mirror', url: `${icecastUrl}/radio.mp3` })
  const streamer = await write('POST', `/station/${station}/streamers`, {
    streamer_username: 'seeded',
    streamer_password: 'a long enough password',
    display_name: 'DJ Seeded'
  })
  known['seededStreamer'] = streamer.id
  const hourAgo = Date.now() - 3_600_000
  const broadcasts = await sql<{ id: number }[]>`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms)
    select ${station}, ${streamer.id}, 'seeded', 'DJ Seeded', ${hourAgo}::bigint - x * 7200000, ${hourAgo}::bigint - x * 7200000 + 3600000
    from generate_series(1, 2) x returning id`
  known['broadcast'] = broadcasts[0]?.id ?? 0
  known['secondBroadcast'] = broadcasts[1]?.id ?? 0
  await sql`insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
    select ${station}, ${Math.floor(Date.now() / 60_000)}::int - x, x % 7, x % 5, x % 7 + 1, x % 3
    from generate_series(1, 2880) x on conflict do nothing`
  for (let skipped = 0; skipped < 3; skipped++) await write('POST', `/station/${station}/backend/skip`, {})
  await write('POST', '/admin/storage_locations', {
    type: 'station_recordings',
    adapter: 'local',
    path: `${known['storagePath']}-recordings`
  })
  // As AzuraRelay does.
  await admin('POST', '/internal/relays', {
    body: {
      base_url: 'https://relay.example.com',
      name: 'Relay',
      is_visible_on_public_pages: true,
      nowplaying: []
    }
  })
  await write('POST', '/v1/main/notifications', { title: 'Coverage', body: 'Seeded', type: 'info' })
}

/** Only a browser can register one. */
async function addPasskey(sql: Sql, known: Known): Promise<void> {
  const [passkey] = await sql<{ id: number }[]>`
    insert into passkeys (user_id, credential_id, public_key, counter, name)
    values (${known['user'] ?? 0}, 'coverage', 'coverage', 0, 'Coverage') returning id`
  known['passkey'] = passkey?.id ?? 0
}
