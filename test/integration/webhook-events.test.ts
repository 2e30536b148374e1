import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { changeStation } from '../../src/engine/change-station.ts'
import { recordListenerReport } from '../../src/engine/listeners/count-listeners.ts'
import { flushStationCounts } from '../../src/engine/listeners/flush-counts.ts'
import { skipCurrentSong } from '../../src/engine/playouts/commands.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import { writeStatusEvents } from '../../src/engine/status-events.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test as base } from '../support/fixtures.ts'
import { seedHook } from '../support/hooks.ts'
import { startPlaying } from '../support/playing.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStations, type Shape } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const test = base.extend('playout', async ({ sql, redisUrl }, { onCleanup }) => {
  const playout = await openPlayout(sql, redisUrl)
  onCleanup(() => playout[Symbol.asyncDispose]())
  return playout
})

/** A playing station, with a web hook for all triggers that was created after its first song began. */
async function openStation(playout: EngineServices, shape: Omit<Shape, 'stations'> = {}) {
  const [station] = await seedStations(playout.sql, { songMs: 3_600_000, ...shape })
  if (!station) throw new Error('no station was made')
  await advance(playout, { stationId: station.id, endedShId: 0, cause: 'wake' })
  const hookId = await seedHook(playout.sql, station.id, { config: { webhook_url: 'http://127.0.0.1:9/' } })
  await changeStation(playout, station.id, async ({ mark }) => mark(['station']))
  return { ...station, hookId }
}

const skip = (playout: EngineServices, stationId: number) =>
  advance(playout, { stationId, endedShId: null, cause: 'skip' })

const count = (playout: EngineServices, stationId: number, total: number, unique = total) =>
  recordListenerReport(playout, stationId, { totals: { total, unique }, mounts: [], remotes: [], hls: [] })

const written = (sql: Sql, stationId: number) =>
  sql<
    {
      fact: string
      triggers: string[]
      state: { current: { shId: number } | null; listeners: { total: number } }
    }[]
  >`
    select e.fact, d.triggers, e.state from webhook_events e join webhook_deliveries d on d.event_id = e.id
    where e.station_id = ${stationId} order by e.id`

async function openPlays(sql: Sql, stationId: number): Promise<number[]> {
  const rows = await sql<
    { id: number }[]
  >`select id from song_history where station_id = ${stationId} order by id`
  return rows.map(({ id }) => id)
}

describe('a song', () => {
  test('that begins is one event, with the state of the station at that time', async ({ playout }) => {
    const { id } = await openStation(playout)
    await skip(playout, id)
    await skip(playout, id)
    const [, second, third] = await openPlays(playout.sql, id)
    expect(await written(playout.sql, id)).toMatchObject([
      { fact: `song:${second}`, triggers: ['song_changed'], state: { current: { shId: second } } },
      { fact: `song:${third}`, triggers: ['song_changed'], state: { current: { shId: third } } }
    ])
  })

  test('that plays twice in a row is two events', async ({ playout }) => {
    const { id } = await openStation(playout, { tracks: 1 })
    await skip(playout, id)
    await skip(playout, id)
    expect(await written(playout.sql, id)).toHaveLength(2)
  })

  test('that is not shown is no event', async ({ playout }) => {
    const { id, playlistId } = await openStation(playout)
    await playout.sql`update playlists set is_jingle = true where id = ${playlistId}`
    await playout.sql`update queue set is_visible = false where station_id = ${id}`
    await skip(playout, id)
    expect((await openPlays(playout.sql, id)).length).toBe(2)
    expect(await written(playout.sql, id)).toEqual([])
  })

  test('is not written if no web hook is enabled', async ({ playout }) => {
    const { id, hookId } = await openStation(playout)
    await playout.sql`update webhooks set is_enabled = false where id = ${hookId}`
    await skip(playout, id)
    expect(await written(playout.sql, id)).toEqual([])
  })

  test('whose transaction is rolled back leaves no event', async ({ playout }) => {
    const { id } = await openStation(playout)
    const broken = changeStation(playout, id, async change => {
      await skipCurrentSong(change, null)
      throw new Error('no')
    })
    await expect(broken).rejects.toThrow('no')
    expect(await written(playout.sql, id)).toEqual([])
    expect(await openPlays(playout.sql, id)).toHaveLength(1)
  })
})

test('events that are written while a web hook is deleted are not lost', async ({ playout }) => {
  const { id, hookId } = await openStation(playout)
  // As the API does: locked, so that it cannot lock rows in another order than the events.
  const deleted = changeStation(playout, id, ({ tx }) => tx`delete from webhooks where id = ${hookId}`)
  await Promise.all([deleted, ...[1, 2, 3, 4, 5].map(total => count(playout, id, total)), skip(playout, id)])
  const readListeners = async () => {
    // It leaves the station to the next run while the flush in the background has locked it.
    await flushStationCounts(playout, [id])
    const [station] = await playout.sql<{ total: number }[]>`
      select listeners_total as total from stations where id = ${id}`
    return station?.total
  }
  expect(await waitFor(readListeners, { deadlineMs: 5_000, what: 'a count' })).toBeGreaterThan(0)
  expect(await openPlays(playout.sql, id)).toHaveLength(2)
})

test('changes of the listener count are events', async ({ playout }) => {
  const { id } = await openStation(playout)
  await count(playout, id, 3)
  await count(playout, id, 3)
  await count(playout, id, 3, 2)
  await count(playout, id, 1)
  await flushStationCounts(playout, [id])
  expect(
    (await written(playout.sql, id)).map(({ triggers, state }) => [triggers, state.listeners.total])
  ).toEqual([
    [['listener_gained'], 3],
    [['listener_lost'], 1]
  ])
})

describe('a station that goes off the air', () => {
  const silence = async (playout: EngineServices, station: { id: number; playlistId: number }) => {
    await playout.sql`update playlists set is_enabled = false where id = ${station.playlistId}`
    await playout.sql`delete from queue where station_id = ${station.id} and played_at_ms is null`
    await skip(playout, station.id)
  }
  const wake = async (playout: EngineServices, station: { id: number; playlistId: number }) => {
    await playout.sql`update playlists set is_enabled = true where id = ${station.playlistId}`
    await advance(playout, { stationId: station.id, endedShId: 0, cause: 'wake' })
  }

  test('is an event after ten seconds, and coming back as well', async ({ playout }) => {
    const station = await openStation(playout)
    await silence(playout, station)
    const offAtMs = Date.now()
    expect(await written(playout.sql, station.id)).toEqual([])
    expect(await writeStatusEvents(playout, offAtMs + 9_000)).toEqual([])
    expect(await writeStatusEvents(playout, offAtMs + 10_500)).toEqual([station.hookId])
    expect(await writeStatusEvents(playout, offAtMs + 20_000)).toEqual([])
    await wake(playout, station)
    await writeStatusEvents(playout, Date.now() + 11_000)
    expect((await written(playout.sql, station.id)).map(({ triggers }) => triggers)).toEqual([
      ['station_offline'],
      ['song_changed'],
      ['station_online']
    ])
  })

  test('and comes back while no web hook is enabled is no event', async ({ playout }) => {
    const station = await openStation(playout)
    await silence(playout, station)
    await playout.sql`update webhooks set is_enabled = false where id = ${station.hookId}`
    await wake(playout, station)
    await playout.sql`update webhooks set is_enabled = true where id = ${station.hookId}`
    expect(await writeStatusEvents(playout, Date.now() + 60_000)).toEqual([])
    expect(await written(playout.sql, station.id)).toEqual([])
  })

  test('for a moment is no event', async ({ playout }) => {
    const station = await openStation(playout)
    await silence(playout, station)
    await wake(playout, station)
    expect(await writeStatusEvents(playout, Date.now() + 60_000)).toEqual([])
    expect((await written(playout.sql, station.id)).map(({ triggers }) => triggers)).toEqual([
      ['song_changed']
    ])
  })

  test('is written once by concurrent processes', async ({ playout }) => {
    const station = await openStation(playout)
    await silence(playout, station)
    const hookIds = await Promise.all(
      Array.from({ length: 4 }, () => writeStatusEvents(playout, Date.now() + 11_000))
    )
    expect(hookIds.flat()).toEqual([station.hookId])
  })
})

test('a receiver gets a song, and can verify the signature', async ({ program }) => {
  await using receiver = await startWebServer()
  const { id } = await startPlaying(program)
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
  // The server refuses addresses of this machine, so the row is inserted directly.
  const made = await program.ask('POST', `/api/station/${id}/webhooks`, {
    body: {
      type: 'generic',
      triggers: ['song_changed'],
      config: [
        { key: 'webhook_url', value: 'https://receiver.invalid/' },
        { key: 'signing_secret', value: secret }
      ]
    }
  })
  expect(made.status).toBe(200)
  await program.sql`
    update webhooks set config = (select jsonb_agg(case when e->>'key' = 'webhook_url'
      then jsonb_build_object('key', 'webhook_url', 'value', ${receiver.url}::text) else e end)
      from jsonb_array_elements(config) e) where id = ${made.body.id}`
  await program.ask('POST', `/api/station/${id}/backend/skip`)
  await waitFor(() => receiver.asked.length > 0, { deadlineMs: 5_000, what: 'the hook' })
  const [asked] = receiver.asked
  const headers = Object.fromEntries(
    Object.entries(asked?.headers ?? {}).map(([name, value]) => [name, String(value)])
  )
  const body = Object(new Webhook(secret).verify(asked?.body ?? '', headers))
  const { body: shown } = await program.ask('GET', `/api/nowplaying/${id}`)
  expect(body.now_playing.sh_id).toBe(shown.now_playing.sh_id)
  expect(body.cache).toBe('event')
  expect(headers).toMatchObject({
    'x-cuewire-event': 'song_changed',
    'x-cuewire-station': shown.station.shortcode
  })
})
