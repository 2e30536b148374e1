import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { readUnplayedRequests } from '../../src/engine/queue-context.ts'
import { type CuePoints, fitCuePoints } from '../../src/model/songs/cue-points.ts'
import { anyCuePoints, anyDurationMs } from '../support/any-cue-points.ts'
import { test } from '../support/fixtures.ts'
import { followStation, queueOf, shownWhen, startPlaying } from '../support/playing.ts'
import { openPlayoutClient, type PlayoutClient, promptly } from '../support/playout-client.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

const nothing = {
  amplify: null,
  cross_start_next: null,
  fade_in: null,
  fade_out: null,
  cue_in: null,
  cue_out: null
}

async function register(program: Program, extra_metadata: object, length = 60) {
  const id = await seedStation(program.sql, { tracks: 0 })
  const { status, body } = await program.ask('POST', `/api/station/${id}/files`, {
    body: { path: 'a.mp3', length, extra_metadata }
  })
  return { id, status, body, path: `/api/station/${id}/file/${body.id}` }
}

const problemsIn = ({ body }: { body: JsonBody }) =>
  body.extra_data.errors.map(({ field, code }: { field: string; code: string }) => `${field}: ${code}`)

/** The path of the file with this title. */
async function fileOf(program: Program, stationId: number, title: string): Promise<string> {
  const { body } = await program.ask('GET', `/api/station/${stationId}/files`)
  return `/api/station/${stationId}/file/${body.find((file: JsonBody) => file.title === title).id}`
}

describe('extra_metadata of a song', () => {
  test('is null where it is unknown', async ({ program }) => {
    const { body } = await register(program, {})
    expect(body.extra_metadata).toEqual(nothing)
    expect(Object.keys(body.extra_metadata)).toEqual(Object.keys(nothing))
  })

  test('is rounded, kept if absent, and cleared by null', async ({ program }) => {
    const { body, path } = await register(program, { cue_in: 0.1234, cue_out: '59.5', amplify: -3.204 })
    expect(body.extra_metadata).toEqual({ ...nothing, cue_in: 0.123, cue_out: 59.5, amplify: -3.2 })
    const { status } = await program.ask('PUT', path, {
      body: { extra_metadata: { amplify: null, fade_in: 0, cross_start_next: 59.5 } }
    })
    expect(status).toBe(200)
    const after = await program.ask('GET', path)
    expect(after.body.extra_metadata).toEqual({
      ...nothing,
      cue_in: 0.123,
      cue_out: 59.5,
      cross_start_next: 59.5,
      fade_in: 0
    })
    await program.ask('PUT', path, { body: { extra_metadata: null, title: 'B' } })
    expect((await program.ask('GET', path)).body.extra_metadata).toEqual(after.body.extra_metadata)
  })

  test('belongs to the operator where it was set, until it is cleared', async ({ program }) => {
    const { body, path } = await register(program, { cue_in: 1, amplify: 2 })
    const operatorCues = async () => {
      const [row] = await program.sql`select operator_cues from media where id = ${body.id}`
      return row?.['operator_cues']
    }
    expect(await operatorCues()).toEqual(['amplify_db', 'cue_in_ms'])
    await program.sql`update media set fade_in_ms = 500 where id = ${body.id}`
    const { body: read } = await program.ask('GET', path)
    const extra_metadata = { ...read.extra_metadata, amplify: null, fade_out: 1 }
    await program.ask('PUT', path, { body: { ...read, extra_metadata } })
    expect(await operatorCues()).toEqual(['cue_in_ms', 'fade_out_ms'])
  })

  test.for<[name: string, values: unknown, problems: string[]]>([
    ['text', 'x', ['extra_metadata: invalid_type']],
    ['a list', [], ['extra_metadata: invalid_type']],
    [
      'no numbers',
      { cue_in: 'x', fade_in: [] },
      ['extra_metadata.fade_in: invalid_type', 'extra_metadata.cue_in: invalid_type']
    ],
    ['negative seconds', { cue_in: -0.5 }, ['extra_metadata.cue_in: out_of_range']],
    ['a loud gain', { amplify: 60.5 }, ['extra_metadata.amplify: out_of_range']],
    ['an end after the end', { cue_out: 60.001 }, ['extra_metadata.cue_out: out_of_range']],
    ['an end before the start', { cue_in: 30, cue_out: 20 }, ['extra_metadata.cue_out: out_of_range']],
    ['a start at the end', { cue_in: 60 }, ['extra_metadata.cue_in: out_of_range']],
    [
      'an early next song',
      { cue_in: 5, cross_start_next: 4 },
      ['extra_metadata.cross_start_next: out_of_range']
    ],
    [
      'fades longer than the sound',
      { cue_in: 50, fade_in: 10.5, fade_out: 11 },
      ['extra_metadata.fade_in: out_of_range', 'extra_metadata.fade_out: out_of_range']
    ]
  ])('is refused with %s', async ([, values, problems], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const response = await program.ask('POST', `/api/station/${id}/files`, {
      body: { path: 'a.mp3', length: 60, extra_metadata: values }
    })
    expect([response.status, problemsIn(response)]).toEqual([400, problems])
    expect(await program.sql`select from media where station_id = ${id}`).toHaveLength(0)
  })

  test('is checked together with what is stored, and with a new length', async ({ program }) => {
    const { path } = await register(program, { cue_out: 50 })
    const late = await program.ask('PUT', path, { body: { extra_metadata: { cue_in: 50 } } })
    expect([late.status, problemsIn(late)]).toEqual([400, ['extra_metadata.cue_out: out_of_range']])
    const short = await program.ask('PUT', path, { body: { length: 49 } })
    expect([short.status, problemsIn(short)]).toEqual([400, ['extra_metadata.cue_out: out_of_range']])
    const both = await program.ask('PUT', path, { body: { length: 49, extra_metadata: { cue_out: 48 } } })
    expect(both.status).toBe(200)
  })

  test('is checked to the millisecond, and not at all if the length is unknown', async ({ program }) => {
    const { body, path } = await register(program, {})
    await program.sql`update media set duration_ms = 60999 where id = ${body.id}`
    const set = async (file: string, cue_out: number) =>
      (await program.ask('PUT', file, { body: { extra_metadata: { cue_out } } })).status
    expect([await set(path, 60.999), await set(path, 61)]).toEqual([200, 400])
    const unknown = await register(program, { cue_out: 900 }, 0)
    expect(unknown.status).toBe(200)
  })

  test('with unknown names lists them as ignored', async ({ program }) => {
    const { path } = await register(program, {})
    const { status, headers } = await program.ask('PUT', path, {
      body: { extra_metadata: { fade_in: 1, fade_up: 2 } }
    })
    expect([status, headers.get('x-ignored-fields')]).toEqual([200, 'extra_metadata.fade_up'])
  })
})

describe('the length on air', () => {
  test('is the same in the database as the cue points that are sent to the playout', async ({ sql }) => {
    const anySongs = fc.array(fc.tuple(anyCuePoints(), anyDurationMs()), { minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(anySongs, async songs => {
        const column = (of: (song: [CuePoints, number]) => number | null) => songs.map(of)
        const rows = await sql<{ onAirMs: number; overlapMs: number | null }[]>`
          select on_air_ms(d, i, o) as "onAirMs", overlap_ms(d, i, o, n) as "overlapMs"
          from unnest(${column(([, durationMs]) => durationMs)}::int[], ${column(([cues]) => cues.cueInMs)}::int[],
            ${column(([cues]) => cues.cueOutMs)}::int[], ${column(([cues]) => cues.startNextMs)}::int[])
            with ordinality as x (d, i, o, n, place) order by place`
        expect([...rows]).toEqual(
          songs.map(([cues, durationMs]) => {
            const { cueInMs, cueOutMs, startNextMs } = fitCuePoints(cues, durationMs)
            const endMs = cueOutMs ?? durationMs
            return {
              onAirMs: endMs === 0 ? 0 : endMs - (cueInMs ?? 0),
              overlapMs: endMs === 0 || startNextMs === null ? null : endMs - startNextMs
            }
          })
        )
      }),
      { numRuns: 20 }
    )
  })

  test('of the next song changes with its cue points, and so do the times of the queue', async ({
    program
  }) => {
    const { id, document } = await startPlaying(program)
    const path = await fileOf(program, id, document.playing_next.song.title)
    const widget = await followStation(program, id)
    await program.ask('PUT', path, { body: { extra_metadata: { cue_in: 5, cue_out: 35 } } })
    const { np } = await widget.next(each => each.playing_next.duration === 30)
    expect(np.now_playing.duration).toBe(60)
    const [first, second] = await queueOf(program, id)
    expect([first.duration, second.played_at - first.played_at]).toEqual([30, 30])
    expect((await program.ask('GET', path)).body.length).toBe(60)
  })

  test('is planned, queued by an operator and shown', async ({ program }) => {
    const { id } = await startPlaying(program)
    const { body: songs } = await program.ask('GET', `/api/station/${id}/files`)
    for (const song of songs)
      await program.ask('PUT', `/api/station/${id}/file/${song.id}`, {
        body: { extra_metadata: { cue_in: 10, cue_out: 30.5 } }
      })
    await program.ask('POST', `/api/station/${id}/queue/clear`)
    await program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: songs[0].id, position: 1 } })
    const rows = await queueOf(program, id)
    expect(new Set(rows.map(row => row.duration))).toEqual(new Set([20]))
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    const { now_playing: current } = await shownWhen(program, id, np => np.now_playing.duration === 20)
    expect(current.elapsed + current.remaining).toBe(20)
    const { body: preview } = await program.ask('GET', `/api/station/${id}/queue/preview?hours=1`)
    expect(preview.map((row: JsonBody) => row.duration).slice(1)).not.toContain(60)
  })

  test('of a requested song is that of the library', async ({ sql }) => {
    const id = await seedStation(sql, { tracks: 1 })
    await sql`update media set cue_in_ms = 10000, start_next_ms = 55000 where station_id = ${id}`
    await sql`
      insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
      select station_id, id, '', 0, 0 from media where station_id = ${id}`
    const requests = await sql.begin(tx => readUnplayedRequests(tx, [id]))
    expect(requests).toMatchObject([{ durationMs: 50_000, overlapMs: 5_000 }])
  })

  test('does not change with the start of the next song, but the times of the queue do', async ({
    program
  }) => {
    const playout = await openPlayoutClient(program, {}, { crossfade_type: 'normal', crossfade: 2 })
    const first = await playout.next('')
    await playout.call('feedback', first)
    const [next] = await queueOf(program, playout.id)
    const path = await fileOf(program, playout.id, next.song.title)
    await program.ask('PUT', path, { body: { extra_metadata: { cross_start_next: 50 } } })
    const [second, third, fourth] = await queueOf(program, playout.id)
    expect([second.duration, third.played_at - second.played_at, fourth.played_at - third.played_at]).toEqual(
      [60, 50, 57]
    )
    const sent = await playout.next(first['sq_id'])
    expect(sent).toMatchObject({ liq_cross_start_next: '50.000' })
    await playout.call('feedback', sent)
    const isShown = async () => (await playout.shown()).now_playing.song.title === sent['title']
    await expect.poll(isShown, promptly).toBe(true)
    const [following] = await queueOf(program, playout.id)
    const { now_playing: current } = await playout.shown()
    expect(following.played_at - current.played_at).toBe(50)
  })

  test('of a song that was not queued is that of the library', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const first = await playout.next('')
    await playout.call('feedback', first)
    const path = await fileOf(program, playout.id, 'Title 7')
    await program.ask('PUT', path, { body: { extra_metadata: { cue_in: 20 } } })
    const media_id = path.split('/').at(-1) ?? ''
    await playout.call('feedback', { media_id, artist: 'Artist 7', title: 'Title 7' })
    await expect
      .poll(playout.shown, promptly)
      .toMatchObject({ now_playing: { duration: 40, song: { title: 'Title 7' } } })
  })
})

const measured = {
  cue_in: 1.2,
  cue_out: 50.1,
  fade_in: 0.2,
  fade_out: 6,
  amplify: '-0.07 dB',
  start_next: 48
}

/** The file of a song that was sent. */
const sentFile = (playout: PlayoutClient, song: Record<string, string>) =>
  `/api/station/${playout.id}/file/${song['media_id']}`

describe('cue points that a playout has computed', () => {
  test('are stored and sent with the song, and change its length on air', async ({ program }) => {
    const playout = await openPlayoutClient(program, {}, { enable_auto_cue: true })
    const song = await playout.next('')
    expect(song).toMatchObject({
      duration: '60.00',
      azuracast_cache_key: expect.stringMatching(/^[0-9a-f]{24}-0$/)
    })
    expect(song).not.toHaveProperty('azuracast_autocue')
    const save = { cache_key: song['azuracast_cache_key'], data: measured }
    expect(await playout.call('savecache', save)).toEqual({ status: 200, body: true })
    const again = await playout.next('')
    expect(again).toMatchObject({
      sq_id: song['sq_id'],
      duration: '60.00',
      liq_cue_in: '1.200',
      liq_amplify: '-0.07 dB',
      azuracast_autocue: 'true',
      autocue_cue_out: '50.100',
      autocue_start_next: '48.000'
    })
    const { body } = await program.ask('GET', sentFile(playout, song))
    expect(body.extra_metadata).toEqual({
      amplify: -0.07,
      cross_start_next: 48,
      fade_in: 0.2,
      fade_out: 6,
      cue_in: 1.2,
      cue_out: 50.1
    })
    await playout.call('feedback', again)
    await expect.poll(playout.shown, promptly).toMatchObject({ now_playing: { duration: 48 } })
  })

  test('do not replace those that an operator set', async ({ program }) => {
    const playout = await openPlayoutClient(program, {}, { enable_auto_cue: true })
    const song = await playout.next('')
    const path = sentFile(playout, song)
    await program.ask('PUT', path, { body: { extra_metadata: { cue_out: 40, amplify: 3 } } })
    await playout.call('savecache', { cache_key: song['azuracast_cache_key'], data: measured })
    expect((await program.ask('GET', path)).body.extra_metadata).toEqual({
      amplify: 3,
      cross_start_next: null,
      fade_in: 0.2,
      fade_out: 6,
      cue_in: 1.2,
      cue_out: 40
    })
  })

  test('are refused if they are malformed, or of another file', async ({ program }) => {
    const playout = await openPlayoutClient(program, {}, { enable_auto_cue: true })
    const key = (await playout.next(''))['azuracast_cache_key'] ?? ''
    const refused = [
      [{}, ['cache_key: required', 'data: required']],
      [{ cache_key: key, data: 5 }, ['data: invalid_type']],
      [
        { cache_key: key, data: { cue_in: 'soon', amplify: 'loud' } },
        ['data.cue_in: invalid_type', 'data.amplify: invalid_type']
      ]
    ] as const
    for (const [body, problems] of refused) {
      const response = await playout.call('savecache', body)
      expect([response.status, problemsIn(response)]).toEqual([400, problems])
    }
    const other = await openPlayoutClient(program)
    expect((await other.call('savecache', { cache_key: key, data: measured })).status).toBe(404)
    await program.sql`update media set modified_ms = 1 where station_id = ${playout.id}`
    expect((await playout.call('savecache', { cache_key: key, data: measured })).status).toBe(404)
  })

  test('are not asked for unless the station uses them', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    expect(await playout.next('')).not.toHaveProperty('azuracast_cache_key')
  })
})
