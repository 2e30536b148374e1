import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { openWindow } from '../support/open-window.ts'
import { queueOf, shownWhen, startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 5_000, what: 'the change to show' }

const titles = (items: readonly JsonBody[]): string[] => items.map(({ song }) => song.title)

const idOf = ({ links }: JsonBody) => Number(links.self.split('/').at(-1))

/** Another playlist of the station, with the songs at these places. */
async function addPlaylist(
  program: Program,
  stationId: number,
  body: object,
  places: readonly number[] = [0, 1, 2]
): Promise<number> {
  const created = await program.ask('POST', `/api/station/${stationId}/playlists`, {
    body: { name: 'Other', is_enabled: false, ...body }
  })
  const playlistId = Number(created.body.id)
  const media = await mediaOf(program, stationId)
  for (const place of places) {
    const { id, playlists } = media[place] ?? { id: 0, playlists: [] }
    await program.ask('PUT', `/api/station/${stationId}/file/${id}`, {
      body: { playlists: [...playlists, playlistId] }
    })
  }
  if (!('is_enabled' in body))
    await program.ask('PUT', `/api/station/${stationId}/playlist/${playlistId}/toggle`)
  return playlistId
}

const mediaOf = async (
  program: Program,
  stationId: number
): Promise<{ id: number; title: string; playlists: number[] }[]> =>
  (await program.ask('GET', `/api/station/${stationId}/files?sort=id`)).body

const allDay = { start_time: 0, end_time: 2359, start_date: '', end_date: '', days: [], loop_once: false }
/** A day that is over. */
const past = { ...allDay, start_date: '2020-01-01', end_date: '2020-01-01' }
const current = () => ({ ...allDay, ...openWindow() })

describe('the queue follows the playlists', () => {
  test('songs of a playlist that is disabled leave it, and return when it is enabled', async ({
    program
  }) => {
    const { id, playlistId } = await startPlaying(program)
    const toggle = () => program.ask('PUT', `/api/station/${id}/playlist/${playlistId}/toggle`)
    expect((await toggle()).body.message).toBe('Playlist disabled.')
    expect(await queueOf(program, id)).toEqual([])
    expect((await toggle()).body.message).toBe('Playlist enabled.')
    expect(await queueOf(program, id)).toHaveLength(3)
  })

  test('a schedule without the current time empties it, and one with it fills it again', async ({
    program
  }) => {
    const { id, playlistId } = await startPlaying(program)
    const schedule = (item: object) =>
      program.ask('PUT', `/api/station/${id}/playlist/${playlistId}`, { body: { schedule_items: [item] } })
    await schedule(past)
    expect(await queueOf(program, id)).toEqual([])
    await schedule(current())
    expect((await queueOf(program, id)).length).toBeGreaterThan(0)
  })

  test('a scheduled playlist replaces the rotation', async ({ program }) => {
    const { id } = await startPlaying(program)
    await addPlaylist(program, id, { name: 'Show', schedule_items: [current()] }, [0, 1, 2, 3])
    const queue = await queueOf(program, id)
    expect(queue.map(({ playlist }) => playlist)).toEqual(['Show', 'Show', 'Show'])
    expect(queue[0]?.log.map(({ step }: { step: string }) => step)).toEqual([
      'slot',
      'requests',
      'bucket',
      'tracks',
      'picked'
    ])
  })

  test('a song that is deleted from the library leaves the queue', async ({ program }) => {
    const { id } = await startPlaying(program)
    const [next] = await queueOf(program, id)
    const media = await mediaOf(program, id)
    const gone = media.find(({ title }) => title === next?.song.title)
    await program.ask('DELETE', `/api/station/${id}/file/${gone?.id}`)
    const queue = await queueOf(program, id)
    expect(titles(queue)).not.toContain(next?.song.title)
    expect(queue).toHaveLength(3)
  })

  test('a station whose playlist is emptied is silent until a song is added', async ({ program }) => {
    const { id, playlistId } = await startPlaying(program)
    const { body } = await program.ask('DELETE', `/api/station/${id}/playlist/${playlistId}/empty`)
    expect(body.message).toBe('Playlist emptied.')
    expect(await queueOf(program, id)).toEqual([])
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    await shownWhen(program, id, shown => !shown.is_online)
    const [first] = await mediaOf(program, id)
    await program.ask('PUT', `/api/station/${id}/file/${first?.id}`, { body: { playlists: [playlistId] } })
    const again = await shownWhen(program, id, shown => shown.is_online)
    expect(again.now_playing.song.title).toBe(first?.title)
    expect(again.playing_next.song.title).toBe(first?.title)
  })

  test('with a duplicate range longer than the library the least recently heard song plays', async ({
    program
  }) => {
    const { id } = await startPlaying(program, { tracks: 4 })
    await program.ask('PUT', `/api/admin/station/${id}`, {
      body: { duplicate_prevention_time_range: 10_080 }
    })
    const heard: string[] = []
    for (let step = 0; step < 8; step++) {
      heard.push((await shownWhen(program, id, body => body.is_online)).now_playing.song.title)
      await program.ask('POST', `/api/station/${id}/backend/skip`)
      await waitFor(async () => (await historyOf(program, id)) > heard.length, soon)
    }
    expect(heard.slice(4)).toEqual(heard.slice(0, 4))
    expect(new Set(heard).size).toBe(4)
  })
})

const historyOf = async (program: Program, stationId: number): Promise<number> => {
  const [row] = await program.sql<{ count: number }[]>`
    select count(*) as count from song_history where station_id = ${stationId}`
  return row?.count ?? 0
}

describe('a playlist that interrupts', () => {
  test('cuts the current play when it becomes due, once', async ({ program }) => {
    const { id, document } = await startPlaying(program)
    const cutId = document.now_playing.sh_id
    await addPlaylist(
      program,
      id,
      { name: 'News', schedule_items: [current()], backend_options: 'interrupt,single_track' },
      [4]
    )
    const shown = await shownWhen(program, id, body => body.now_playing.playlist === 'News')
    const [cut] = await program.sql<{ length: number; due: number }[]>`
      select ended_at_ms - started_at_ms as length, due_at_ms - started_at_ms as due
      from song_history where id = ${cutId}`
    expect(cut?.length).toBe(cut?.due)
    expect(cut?.length).toBeLessThan(60_000)
    expect(shown.playing_next.playlist).not.toBe('News')
    expect((await queueOf(program, id)).map(({ playlist }) => playlist)).not.toContain('News')
  })

  test('is queued at the second at which it becomes due, and leaves the queue when it is disabled', async ({
    program
  }) => {
    const { id, document } = await startPlaying(program, { songMs: 7_200_000 })
    const minute = (new Date().getUTCMinutes() + 20) % 60
    const other = await addPlaylist(
      program,
      id,
      { name: 'Ident', type: 'once_per_hour', play_per_hour_minute: minute, backend_options: 'interrupt' },
      [4]
    )
    const [first] = await queueOf(program, id)
    expect(first?.playlist).toBe('Ident')
    expect(new Date(first?.played_at * 1_000).toISOString().slice(14, 19)).toBe(
      `${String(minute).padStart(2, '0')}:00`
    )
    const due = async () =>
      (
        await program.sql<{ due: number }[]>`
          select due_at_ms as due from song_history where id = ${document.now_playing.sh_id}`
      )[0]?.due
    expect(await due()).toBe(first?.played_at * 1_000)
    await program.ask('PUT', `/api/station/${id}/playlist/${other}`, { body: { is_enabled: false } })
    expect((await queueOf(program, id)).map(({ playlist }) => playlist)).not.toContain('Ident')
    expect(await due()).toBe(
      (document.now_playing.played_at + 7_200) * 1_000 + (((await due()) ?? 0) % 1_000)
    )
  })
})

describe('operators', () => {
  test('add a song at a position', async ({ program }) => {
    const { id } = await startPlaying(program)
    const before = titles(await queueOf(program, id))
    const media = await mediaOf(program, id)
    const wanted = media.find(({ title }) => !before.includes(title))
    await program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: wanted?.id, position: 2 } })
    expect(titles(await queueOf(program, id)).slice(0, 3)).toEqual([before[0], wanted?.title, before[1]])
  })

  test('move a song, which keeps its position', async ({ program }) => {
    const { id } = await startPlaying(program)
    const before = await queueOf(program, id)
    const [first, second, third] = before
    const path = `/api/station/${id}/queue/${idOf(third)}/move`
    expect((await program.ask('PUT', path, { body: { position: 1 } })).status).toBe(200)
    const after = await queueOf(program, id)
    expect(titles(after)).toEqual(titles([third, first, second]))
    expect(after[0]?.log.at(-1)).toEqual({ step: 'moved_by_hand', from: 3, to: 1 })
    expect(after.map(({ played_at: at }) => at)).toEqual(before.map(({ played_at: at }) => at))
    const refused = [
      await program.ask('PUT', path, { body: { position: 0 } }),
      await program.ask('PUT', path, { body: {} }),
      await program.ask('PUT', `/api/station/${id}/queue/999999/move`, { body: { position: 1 } })
    ]
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 404])
  })

  test('get a preview, which matches what plays', async ({ program }) => {
    const { id } = await startPlaying(program, { tracks: 7 })
    const before = await program.sql`select * from queue where station_id = ${id} order by id`
    const preview = await program.ask('GET', `/api/station/${id}/queue/preview?hours=24&rows=12`)
    expect(preview.status).toBe(200)
    expect(await program.sql`select * from queue where station_id = ${id} order by id`).toEqual(before)
    expect(titles(preview.body).slice(0, 3)).toEqual(titles(await queueOf(program, id)))
    expect(preview.body[0].played_at).toBe((await queueOf(program, id))[0]?.played_at)
    const heard: string[] = []
    for (let step = 0; step < 12; step++) {
      const count = await historyOf(program, id)
      await program.ask('POST', `/api/station/${id}/backend/skip`)
      await waitFor(async () => (await historyOf(program, id)) > count, soon)
      const [row] = await program.sql<{ title: string }[]>`
        select title from song_history where station_id = ${id} order by id desc limit 1`
      heard.push(row?.title ?? '')
    }
    expect(heard).toEqual(titles(preview.body))
  })

  test('get a preview of at most a week', async ({ program }) => {
    const { id } = await startPlaying(program)
    const responses = await Promise.all(
      ['hours=0', 'hours=169', 'hours=x', 'rows=2001'].map(query =>
        program.ask('GET', `/api/station/${id}/queue/preview?${query}`)
      )
    )
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  })

  test('order the songs of a playlist, and restart it', async ({ program }) => {
    const { id, playlistId } = await startPlaying(program, { tracks: 5 })
    const path = `/api/station/${id}/playlist/${playlistId}`
    const { body: order } = await program.ask('GET', `${path}/order`)
    const ids: number[] = order.map(({ media_id: mediaId }: JsonBody) => mediaId)
    const wanted = ids.toReversed()
    await program.ask('PUT', `${path}/order`, { body: { order: wanted } })
    await program.ask('PUT', path, { body: { order: 'sequential' } })
    const { body: now } = await program.ask('GET', `${path}/order`)
    expect(now.map(({ media_id: mediaId }: JsonBody) => mediaId)).toEqual(wanted)
    expect((await program.ask('PUT', `${path}/reshuffle`)).body.message).toBe('Playlist reshuffled.')
    const named = titlesOf(await mediaOf(program, id), wanted)
    expect(titles(await queueOf(program, id))).toEqual(named.slice(0, 3))
    const refused = await program.ask('PUT', `${path}/order`, { body: { order: [ids[0], 999_999] } })
    expect(refused.body.extra_data.errors[0]).toMatchObject({ field: 'order.1', code: 'not_found' })
  })

  test('delete a queued song of a sequential playlist, which continues after it', async ({ program }) => {
    const { id, playlistId } = await startPlaying(program, { tracks: 5 })
    const path = `/api/station/${id}/playlist/${playlistId}`
    await program.ask('PUT', path, { body: { order: 'sequential' } })
    const before = await queueOf(program, id)
    await program.ask('DELETE', `/api/station/${id}/queue/${idOf(before[0])}`)
    const after = await queueOf(program, id)
    expect(titles(after).slice(0, 2)).toEqual(titles(before).slice(1))
    expect(titles(after)).not.toContain(before[0]?.song.title)
  })
})

const titlesOf = (media: readonly { id: number; title: string }[], ids: readonly number[]) =>
  ids.map(id => media.find(each => each.id === id)?.title)

test('the schedule is public, with times in the time zone of the station', async ({ program }) => {
  const { id } = await startPlaying(program)
  await program.ask('PUT', `/api/admin/station/${id}`, { body: { timezone: 'Europe/Berlin' } })
  await addPlaylist(program, id, {
    name: 'Night',
    schedule_items: [{ ...allDay, start_time: 2200, end_time: 400, days: [6] }]
  })
  await waitFor(
    async () =>
      (await program.ask('GET', `/api/station/${id}`, { key: '' })).body.timezone === 'Europe/Berlin',
    soon
  )
  // The evening before the clock goes forward.
  const now = Date.parse('2026-03-28T20:00:00Z') / 1_000
  const { body } = await program.ask('GET', `/api/station/${id}/schedule?now=${now}&days=3`, { key: '' })
  expect(body).toHaveLength(1)
  expect(body[0]).toMatchObject({
    type: 'playlist',
    name: 'Night',
    start: '2026-03-28T22:00:00+01:00',
    end: '2026-03-29T04:00:00+02:00',
    end_timestamp: Date.parse('2026-03-29T02:00:00Z') / 1_000,
    is_now: false
  })
  const during = await program.ask('GET', `/api/station/${id}/schedule?now=${now + 7_200}`, { key: '' })
  expect(during.body[0].is_now).toBe(true)
})

test('songs of playlists that allow it are available on demand', async ({ program }) => {
  const { id, playlistId } = await startPlaying(program)
  const url = `/api/station/${id}/ondemand`
  expect((await program.ask('GET', url, { key: '' })).body).toEqual([])
  await program.ask('PUT', `/api/station/${id}/playlist/${playlistId}`, {
    body: { include_in_on_demand: true }
  })
  const { body } = await program.ask('GET', `${url}?searchPhrase=title 3`, { key: '' })
  expect(body).toHaveLength(1)
  expect(body[0].media.title).toBe('Title 3')
  const song = `/api/station/${id}/file/${body[0].track_id}`
  expect((await program.ask('GET', body[0].download_url, { key: '' })).status).toBe(404)
  await program.ask('PUT', song, { body: { path: 'https://example.com/3.mp3' } })
  const response = await fetch(program.baseUrl + body[0].download_url, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([302, 'https://example.com/3.mp3'])
})
