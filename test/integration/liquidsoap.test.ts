import { describe, expect } from 'vitest'

import { computeSongId } from '../../src/model/songs/song.ts'
import { test } from '../support/fixtures.ts'
import { openWindow } from '../support/open-window.ts'
import { openPlayoutClient, type PlayoutClient, promptly } from '../support/playout-client.ts'
import type { Program } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 5_000 }

/** The history, oldest first: titles, and seconds since the start of the first play. */
async function plays({ sql }: Program, { id }: PlayoutClient) {
  const rows = await sql<{ title: string; startedAtMs: number; endedAtMs: number | null }[]>`
    select title, started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs" from song_history
    where station_id = ${id} order by started_at_ms`
  const firstMs = rows[0]?.startedAtMs ?? 0
  const seconds = (ms: number) => Math.round((ms - firstMs) / 1000)
  return rows.map(({ title, startedAtMs, endedAtMs }) => [
    title,
    seconds(startedAtMs),
    endedAtMs === null ? null : seconds(endedAtMs)
  ])
}

/** Within 1.5 seconds: the machine may be busy. */
const about = (seconds: number) => expect.closeTo(seconds, -0.5)

const report = (song: Record<string, string>, ago = '0') => ({ ...song, ago })

/** Starts a song like a playout: requests it, then reports it. */
async function play(playout: PlayoutClient, last: string, ago = '0') {
  const song = await playout.next(last)
  expect((await playout.call('feedback', report(song, ago))).body).toBe(true)
  return song
}

describe('the key', () => {
  test('must be the playout key of the station', async ({ program }) => {
    const [playout, other] = [await openPlayoutClient(program), await openPlayoutClient(program)]
    const ask = async (id: number, headers: Record<string, string>) =>
      (await fetch(`${program.baseUrl}/api/internal/${id}/liquidsoap/nextsong`, { headers })).status
    expect(await ask(playout.id, { 'X-Liquidsoap-Api-Key': playout.key })).toBe(200)
    expect(await ask(other.id, { 'X-Liquidsoap-Api-Key': playout.key })).toBe(403)
    expect(await ask(playout.id, { 'X-API-Key': '0123456789abcdef:0123456789abcdef0123456789abcdef' })).toBe(
      403
    )
    expect(await ask(playout.id, {})).toBe(403)
    await program.sql`update stations set playout_key = '' where id = ${playout.id}`
    expect(await ask(playout.id, { 'X-Liquidsoap-Api-Key': '' })).toBe(403)
  })
})

describe('songs', () => {
  test('are sent and reported; a repeated request sends the same song', async ({ program }) => {
    const playout = await openPlayoutClient(program, { songMs: 200_000 })
    await expect.poll(playout.shown, promptly).toMatchObject({ is_online: false })
    const first = await playout.next('')
    expect(await playout.next('')).toEqual(first)
    await playout.call('feedback', report(first))
    const second = await playout.next(first['sq_id'])
    expect(second['sq_id']).not.toBe(first['sq_id'])
    await expect.poll(playout.shown, promptly).toMatchObject({
      is_online: true,
      now_playing: { song: { title: first['title'] }, duration: 200, playlist: 'Rotation' },
      playing_next: { song: { title: second['title'] } }
    })
    expect((await playout.call('feedback', report(first))).body).toBe(true)
    await playout.call('feedback', report(second))
    const {
      now_playing: current,
      song_history: [ended]
    } = await playout.shown()
    expect([current.song.title, ended.song.title]).toEqual([second['title'], first['title']])
    expect(await plays(program, playout)).toHaveLength(2)
    const { body: queue } = await program.ask('GET', `/api/station/${playout.id}/queue`)
    expect(queue).toHaveLength(3)
  })

  test('that are played twice in a row are two plays', async ({ program }) => {
    const playout = await openPlayoutClient(program, { tracks: 1 })
    const first = await play(playout, '')
    const { now_playing: before } = await playout.shown()
    const second = await play(playout, first['sq_id'] ?? '')
    const { now_playing: after } = await playout.shown()
    expect([second['song_id'], after.song.id]).toEqual([first['song_id'], before.song.id])
    expect(after.sh_id).not.toBe(before.sh_id)
  })

  test('that the playout skips return to their playlist', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '')
    const lost = await playout.next(first['sq_id'])
    const third = await playout.next(lost['sq_id'])
    await playout.call('feedback', report(third))
    expect((await program.ask('GET', `/api/station/${playout.id}/queue/${lost['sq_id']}`)).status).toBe(404)
    const [{ pass } = { pass: null }] = await program.sql<{ pass: number }[]>`
      select t.last_pass as pass from playlist_tracks t join media m on m.id = t.media_id
      where m.id = ${Number(lost['media_id'])}`
    expect(pass).toBe(0)
    expect((await plays(program, playout)).map(([title]) => title)).toEqual([first['title'], third['title']])
  })

  test('that were not queued are recorded as unscheduled plays', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    await play(playout, '')
    await playout.call('feedback', { artist: 'Sibyl "Q" Ortega', title: '1999 \\ 🎶' })
    const { now_playing: unknown } = await playout.shown()
    expect(unknown).toMatchObject({
      playlist: '',
      duration: 0,
      elapsed: 0,
      song: { artist: 'Sibyl "Q" Ortega', title: '1999 \\ 🎶' }
    })
    await program.sql`update media set song_id = ${computeSongId('Artist 7 - Title 7')}
      where station_id = ${playout.id} and title = 'Title 7'`
    await playout.call('feedback', { title: 'Artist 7 - Title 7' })
    const [media] = await program.sql<{ id: number }[]>`
      select id from media where station_id = ${playout.id} and title = 'Title 7'`
    await expect
      .poll(playout.shown, promptly)
      .toMatchObject({ now_playing: { duration: 60, song: { title: 'Title 7' } } })
    await playout.call('feedback', { media_id: String(media?.id), artist: 'Artist 7', title: 'true' })
    await expect.poll(async () => (await playout.shown()).now_playing.song.title, promptly).toBe('true')
    expect(await plays(program, playout)).toHaveLength(4)
    for (const body of [
      {},
      { media_id: '999999999' },
      { media_id: 'x', title: 'y' },
      { sq_id: '999999999' },
      { title: 'y', ago: 'soon' },
      { title: 'y', ago: '86401' }
    ])
      expect((await playout.call('feedback', body)).status).toBe(400)
    expect(await plays(program, playout)).toHaveLength(4)
  })
})

describe('reports', () => {
  test('that arrive out of order result in the same history', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '', '120')
    const second = await playout.next(first['sq_id'])
    const third = await playout.next(second['sq_id'])
    await playout.call('feedback', report(third, '2'))
    await playout.call('feedback', report(second, '61'))
    await expect
      .poll(async () => (await playout.shown()).now_playing.song.title, promptly)
      .toBe(third['title'])
    expect(await plays(program, playout)).toEqual([
      [first['title'], 0, about(60)],
      [second['title'], about(60), about(118)],
      [third['title'], about(118), null]
    ])
    expect(
      (await playout.shown()).song_history.map((each: { song: { title: string } }) => each.song.title)
    ).toEqual([second['title'], first['title']])
  })

  test('without a time are placed by the queue', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const { ago: _, ...first } = await play(playout, '', '100')
    const second = await playout.next(first['sq_id'])
    const third = await playout.next(second['sq_id'])
    await playout.call('feedback', third)
    await playout.call('feedback', second)
    expect(await plays(program, playout)).toEqual([
      [first['title'], 0, 60],
      [second['title'], 60, about(100)],
      [third['title'], about(100), null]
    ])
  })

  test('that are missing are replaced by a provisional play, which a late report corrects', async ({
    program
  }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '', '61')
    const second = await playout.next(first['sq_id'])
    await waitFor(async () => (await playout.shown()).now_playing.song.title === second['title'], {
      deadlineMs: 10_000,
      what: 'the clock to go on'
    })
    const { now_playing: guessed } = await playout.shown()
    expect(await plays(program, playout)).toEqual([
      [first['title'], 0, 60],
      [second['title'], 60, null]
    ])
    await playout.call('feedback', report(second, '2'))
    const { now_playing: known } = await playout.shown()
    expect(known.sh_id).toBe(guessed.sh_id)
    expect(known.played_at).toBeGreaterThan(guessed.played_at)
    const [, moved] = await plays(program, playout)
    expect(Number(moved?.[1])).toBeGreaterThan(62)
  })

  test('are not replaced by a provisional play that would be over, after the time jumped by an hour', async ({
    program
  }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '', '5')
    const second = await playout.next(first['sq_id'])
    await program.sql`
      update song_history set started_at_ms = started_at_ms - 3600000, due_at_ms = due_at_ms - 3600000
      where station_id = ${playout.id}`
    await waitFor(async () => !(await playout.shown()).is_online, { deadlineMs: 10_000, what: 'the end' })
    await playout.call('feedback', report(second, '2'))
    await expect
      .poll(async () => (await playout.shown()).now_playing.song.title, promptly)
      .toBe(second['title'])
    expect((await plays(program, playout)).map(([title, , endedAt]) => [title, endedAt === null])).toEqual([
      [first['title'], false],
      [second['title'], true]
    ])
  })

  test('of another song than the provisional play replace it', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '', '61')
    const second = await playout.next(first['sq_id'])
    const third = await playout.next(second['sq_id'])
    await waitFor(async () => (await playout.shown()).now_playing.song.title === second['title'], {
      deadlineMs: 10_000,
      what: 'the clock to go on'
    })
    await playout.call('feedback', report(third, '3'))
    expect((await plays(program, playout)).map(([title]) => title)).toEqual([first['title'], third['title']])
  })
})

describe('a playout that timed out', () => {
  test('has no current play', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    await play(playout, '')
    const { body: first } = await playout.call('commands', { seen: '' })
    const seenAt = async () => {
      const [row] = await program.sql<{ atMs: number }[]>`
        select seen_at_ms as "atMs" from playouts where station_id = ${playout.id}`
      return row?.atMs ?? 0
    }
    const before = await seenAt()
    const leaving = new AbortController()
    const waiting = fetch(`${program.baseUrl}/api/internal/${playout.id}/liquidsoap/commands`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Liquidsoap-Api-Key': playout.key },
      body: JSON.stringify({ seen: first.seen }),
      signal: leaving.signal
    })
    const left = async () => {
      const [row] =
        await program.sql`select from playouts where station_id = ${playout.id} and left_at_ms is not null`
      return row !== undefined
    }
    await waitFor(async () => (await seenAt()) > before, { ...soon, what: 'the call' })
    leaving.abort()
    await waiting.catch(() => {})
    await waitFor(left, { ...soon, what: 'the leave' })
    await expect.poll(playout.shown, promptly).toMatchObject({ is_online: true })
    await program.sql`update playouts set seen_at_ms = seen_at_ms - 20000, left_at_ms = left_at_ms - 20000
      where station_id = ${playout.id}`
    await waitFor(async () => !(await playout.shown()).is_online, { ...soon, what: 'silence' })
  })
})

describe('commands', () => {
  test('to skip are sent at once, and once', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    await play(playout, '')
    const { body: first } = await playout.call('commands', { seen: '' })
    expect(first.commands).toEqual([])
    const waiting = playout.call('commands', { seen: first.seen })
    const skipped = await program.ask('POST', `/api/station/${playout.id}/backend/skip`)
    expect(skipped.status).toBe(200)
    const began = Date.now()
    const { body } = await waiting
    expect(Date.now() - began).toBeLessThan(2_000)
    expect(body.commands).toEqual([{ type: 'skip', uri: '', sq_id: '', artist: '', title: '', delay: '0' }])
    expect(await plays(program, playout)).toHaveLength(1)
    const { body: newest } = await playout.call('commands', { seen: '' })
    expect(newest).toEqual({ seen: body.seen, commands: [] })
  })

  test('to set the metadata of the stream', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    await play(playout, '')
    const { body: first } = await playout.call('commands', { seen: '' })
    const path = `/api/station/${playout.id}/nowplaying/update?artist=Ann&title=Home`
    expect((await program.ask('GET', path)).status).toBe(200)
    const { body } = await playout.call('commands', { seen: first.seen })
    expect(body.commands).toMatchObject([{ type: 'metadata', artist: 'Ann', title: 'Home' }])
  })

  test('to interrupt are sent at their time; the loaded song stays next', async ({ program }) => {
    const playout = await openPlayoutClient(program)
    const first = await play(playout, '')
    const second = await playout.next(first['sq_id'])
    const { body: start } = await playout.call('commands', { seen: '' })
    const [song] = await program.sql<{ id: number }[]>`
      insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms)
      values (${playout.id}, left(md5(random()::text), 24), 'news.mp3', md5('news'), 'Desk', 'News', 30000) returning id`
    const { body: news } = await program.ask('POST', `/api/station/${playout.id}/playlists`, {
      body: {
        name: 'News',
        schedule_items: [openWindow()],
        backend_options: 'interrupt,single_track'
      }
    })
    await program.ask('PUT', `/api/station/${playout.id}/file/${song?.id}`, {
      body: { playlists: [news.id] }
    })
    let seen: string = start.seen
    const commands: { type: string; uri: string; sq_id: string }[] = []
    await waitFor(
      async () => {
        const { body } = await playout.call('commands', { seen })
        seen = body.seen
        commands.push(...body.commands)
        return commands.length > 0
      },
      { ...soon, what: 'the command' }
    )
    expect(commands).toMatchObject([{ type: 'interrupt', uri: expect.stringContaining('title="News"') }])
    expect(await playout.next(second['sq_id'])).not.toMatchObject({ title: 'News' })
    await playout.call('feedback', { sq_id: commands[0]?.sq_id, artist: 'Desk', title: 'News', ago: '0' })
    await expect.poll(async () => (await playout.shown()).now_playing.song.title, promptly).toBe('News')
    await playout.call('feedback', report(second))
    expect((await plays(program, playout)).map(([title]) => title)).toEqual([
      first['title'],
      'News',
      second['title']
    ])
  })
})
