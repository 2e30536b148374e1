import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { lockImports } from '../../src/stores/db/library/media-rows.ts'
import { anyText } from '../support/any-text.ts'
import { test } from '../support/fixtures.ts'
import { followStation, shownWhen, startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { changeUnpublished } from '../support/unpublished.ts'
import { waitFor } from '../support/wait.ts'

/** A disabled station with an empty playlist. */
async function quiet(program: Program) {
  const [station] = await seedStations(program.sql, { tracks: 0 })
  const { id = 0, playlistId = 0 } = station ?? {}
  await program.sql`update stations set is_enabled = false where id = ${id}`
  return { id, playlistId, path: `/api/station/${id}/playlist/${playlistId}` }
}

async function addSongs(
  program: Program,
  stationId: number,
  songs: { path: string; title?: string; artist?: string }[]
) {
  const rows = songs.map(({ path, title = 'T', artist = 'A' }, index) => ({
    station_id: stationId,
    unique_id: `${stationId}-${path}`,
    path,
    song_id: String(index),
    title,
    artist,
    duration_ms: 60_000
  }))
  const inserted = await program.sql<{ id: number }[]>`insert into media ${program.sql(rows)} returning id`
  return inserted.map(({ id }) => id)
}

async function send(
  program: Program,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  type = 'audio/x-mpegurl'
) {
  const response = await fetch(program.baseUrl + path, {
    method: 'POST',
    body,
    headers: { 'X-API-Key': adminKey, 'Content-Type': type }
  })
  const parsed: JsonBody = await response.json()
  return { status: response.status, body: parsed }
}

const tracksOf = async (program: Program, playlistId: number) => {
  const rows = await program.sql<{ path: string }[]>`
    select m.path from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} order by t.position`
  return rows.map(({ path }) => path)
}

describe('importing a list', () => {
  test('matches paths, unique file names and ids; adds URLs; reports the rest', async ({ program }) => {
    const { id, playlistId, path } = await quiet(program)
    const [one, two] = await addSongs(program, id, [
      { path: 'one.mp3' },
      { path: '/srv/music/two ü.mp3' },
      { path: 'a/twin.mp3' },
      { path: 'b/twin.mp3' }
    ])
    const list = [
      '#EXTM3U',
      '#EXTINF:12,Wrong - Text',
      './one.mp3',
      'D:\\Musik\\two ü.mp3',
      'twin.mp3',
      '#EXTINF:-1,Radio - Live',
      'https://Example.com/live stream',
      'https://example.com/live%20stream',
      'rtsp://example.com/no',
      'missing.mp3',
      'one.mp3'
    ]
    const { status, body } = await send(program, `${path}/import`, list.join('\r\n'))
    const [remote] = await program.sql`
      select id, artist, title, duration_ms from media where path = 'https://example.com/live%20stream'`
    const live = remote?.['id']
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      message: '5 of 8 entries are songs of the library.',
      formatted_message: '5 of 8 entries are songs of the library.',
      import_results: [
        { path: './one.mp3', match: one },
        { path: 'D:\\Musik\\two ü.mp3', match: two },
        { path: 'twin.mp3', match: null },
        { path: 'https://Example.com/live stream', match: live },
        { path: 'https://example.com/live%20stream', match: live },
        { path: 'rtsp://example.com/no', match: null },
        { path: 'missing.mp3', match: null },
        { path: 'one.mp3', match: one }
      ]
    })
    expect(remote).toMatchObject({ artist: 'Radio', title: 'Live', duration_ms: 0 })
    expect(await tracksOf(program, playlistId)).toEqual([
      'one.mp3',
      '/srv/music/two ü.mp3',
      'https://example.com/live%20stream'
    ])
    const [kept] = await program.sql`select title, duration_ms from media where id = ${one ?? 0}`
    expect(kept).toEqual({ title: 'T', duration_ms: 60_000 })
    const [audit] =
      await program.sql`select record, record_id, fields from audit_log where station_id = ${id}`
    expect(audit).toEqual({ record: 'Playlist', record_id: String(playlistId), fields: ['tracks'] })
  })

  test('of JSON accepts paths, ids and objects, and appends to the playlist', async ({ program }) => {
    const { id, playlistId, path } = await quiet(program)
    const [one, two, three] = await addSongs(program, id, [{ path: '1' }, { path: '2' }, { path: '3' }])
    await program.ask('POST', `${path}/import`, { body: [three] })
    const { body } = await program.ask('POST', `${path}/import`, {
      body: [
        { path: '2', title: 'ignored' },
        { id: one },
        three,
        999_999_999,
        'nul\0',
        { path: 'https://example.com/x', artist: 'X', title: 'Y', length: 90.5 }
      ]
    })
    expect(body.import_results.slice(0, 5)).toEqual([
      { path: '2', match: two },
      { path: '1', match: one },
      { path: '3', match: three },
      { path: '999999999', match: null },
      { path: 'nul\0', match: null }
    ])
    expect(await tracksOf(program, playlistId)).toEqual(['3', '2', '1', 'https://example.com/x'])
    const [remote] = await program.sql`
      select artist, title, duration_ms from media where id = ${body.import_results[5].match}`
    expect(remote).toEqual({ artist: 'X', title: 'Y', duration_ms: 90_500 })
  })

  test('finds no songs and no playlists of other stations', async ({ program }) => {
    const [mine, other] = [await quiet(program), await quiet(program)]
    const [foreign] = await addSongs(program, other.id, [{ path: 'x.mp3' }])
    const { body } = await program.ask('POST', `${mine.path}/import`, { body: [foreign, 'x.mp3'] })
    expect(body.import_results).toEqual([
      { path: String(foreign), match: null },
      { path: 'x.mp3', match: null }
    ])
    for (const playlist of [other.playlistId, 999_999_999, 'x']) {
      const path = `/api/station/${mine.id}/playlist/${playlist}`
      expect((await program.ask('POST', `${path}/import`, { body: ['x.mp3'] })).status).toBe(404)
      expect((await program.ask('GET', `${path}/export/m3u`)).status).toBe(404)
    }
  })

  test('into the playlist of a station that lacks songs is published at once', async ({ program }) => {
    const { id, playlistId } = await startPlaying(program, { tracks: 1 })
    await program.sql`update queue set skipped_at_ms = 1 where station_id = ${id} and played_at_ms is null`
    await changeUnpublished(
      program.sql,
      tx => tx`update stations set revision = revision + 1, queue_revision = revision + 1 where id = ${id}`
    )
    await shownWhen(program, id, body => body.playing_next === null)
    const widget = await followStation(program, id)
    await send(
      program,
      `/api/station/${id}/playlist/${playlistId}/import`,
      '[playlist]\nFile1=https://example.com/new.mp3\nTitle1=Some - New\nLength1=100\n',
      'audio/x-scpls'
    )
    const { np } = await widget.next(each => each.playing_next !== null)
    expect(np.playing_next.song.text).toBe('Some - New')
  })

  const refused: [name: string, body: string, type: string, status: number, problems: string[]][] = [
    ['nothing', '', 'text/plain', 400, [': invalid_type']],
    ['blanks', '  \n ', 'text/plain', 400, [': invalid_format']],
    ['prose', 'Dear reader,\nthis is no list.', 'text/plain', 400, [': invalid_format']],
    ['a NUL', '#EXTM3U\na\0.mp3', 'text/plain', 400, [': invalid_format']],
    ['one long line', 'a'.repeat(10 * 1024 * 1024), 'text/plain', 400, [': invalid_format']],
    ['too many lines', `#EXTM3U\n${'a\n'.repeat(300_000)}`, 'text/plain', 400, [': too_long']],
    ['too many entries', `#EXTM3U\n${'a\n'.repeat(50_001)}`, 'text/plain', 400, [': too_long']],
    ['too many elements', JSON.stringify(Array(50_001).fill(1)), 'application/json', 400, [': too_long']],
    ['an object', '{"tracks": [1]}', 'application/json', 400, [': invalid_type']],
    ['a prototype', '{"__proto__": [1]}', 'application/json', 400, ['__proto__: invalid_format']],
    [
      'wrong elements',
      '[null, {}, true, 1.5, "", [], {"path": 5}]',
      'application/json',
      400,
      [
        '0: required',
        '1: invalid_type',
        '2: invalid_type',
        '3: invalid_type',
        '4: invalid_type',
        '5: invalid_type',
        '6: invalid_type'
      ]
    ]
  ]
  test.for(refused)(
    'that is invalid is refused as a whole: %s',
    async ([, body, type, status, problems], { program }) => {
      const { playlistId, path } = await quiet(program)
      const response = await send(program, `${path}/import`, body, type)
      expect(response.status).toBe(status)
      expect(response.body.extra_data.errors.map(({ field, code }: JsonBody) => `${field}: ${code}`)).toEqual(
        problems
      )
      expect(await tracksOf(program, playlistId)).toEqual([])
    }
  )

  test('accepts up to 10 MiB', async ({ program }) => {
    const { path } = await quiet(program)
    const line = `#${'x'.repeat(1_022)}\n`
    const body = `#EXTM3U\nhttps://example.com/y\n${line.repeat(10_239)}`
    expect((await send(program, `${path}/import`, body)).status).toBe(200)
    expect((await send(program, `${path}/import`, 'a'.repeat(10 * 1024 * 1024 + 1))).status).toBe(413)
  })
})

describe('exporting a list', () => {
  test('returns a file with the content type of its format', async ({ program }) => {
    const { id, playlistId, path } = await quiet(program)
    await program.sql`update playlists set name = ${'Früh "A"\r\nX-Evil: 1'} where id = ${playlistId}`
    await addSongs(program, id, [{ path: 'b.mp3', title: 'B\r\nhttps://evil.example/' }, { path: 'a.mp3' }])
    await program.ask('POST', `${path}/import`, { body: ['b.mp3', 'a.mp3'] })
    const m3u = await program.ask('GET', `${path}/export/m3u`)
    expect(m3u.headers.get('content-type')).toBe('audio/x-mpegurl')
    expect(m3u.headers.get('x-evil')).toBeNull()
    expect(m3u.headers.get('content-disposition')).toBe(
      `attachment; filename="Fr_h _A___X-Evil_ 1.m3u"; filename*=UTF-8''Fr%C3%BCh%20%22A%22%0D%0AX-Evil%3A%201.m3u`
    )
    expect(m3u.body).toBe('#EXTM3U\n#EXTINF:60,A - B https://evil.example/\nb.mp3\n#EXTINF:60,A - T\na.mp3\n')
    const pls = await program.ask('GET', `${path}/export/pls`)
    expect(pls.headers.get('content-type')).toBe('audio/x-scpls')
    expect(pls.body).toContain('NumberOfEntries=2')
    expect((await program.ask('GET', `${path}/export/xspf`)).status).toBe(404)
    expect((await program.ask('GET', `${path}/export/m3u`, { key: '' })).status).toBe(403)
  })

  test('and importing it again results in the same songs in the same order', async ({ program }) => {
    const odd = anyText({ minLength: 1, maxLength: 40 }).map(
      text => text.replace(/\0|\p{Surrogate}/gu, '') || 'x'
    )
    const paths = fc.uniqueArray(
      fc.oneof(
        odd.map(text => text.replace(/^[./]+|\/+/g, '_')),
        odd.map(text => new URL(`https://example.com/${encodeURIComponent(text)}`).href),
        fc.constantFrom('#1.mp3', ' a.mp3', 'file1=x', '[playlist]', 'a\nb.mp3', '%20.mp3', 'x\\y.mp3')
      ),
      { maxLength: 12 }
    )
    await fc.assert(
      fc.asyncProperty(paths, odd, fc.constantFrom('m3u', 'pls'), async (songs, title, format) => {
        const { id, playlistId, path } = await quiet(program)
        if (songs.length > 0)
          await addSongs(
            program,
            id,
            songs.map(each => ({ path: each, title, artist: title }))
          )
        const ids = await program.sql<
          { id: number }[]
        >`select id from media where station_id = ${id} order by id`
        await program.ask('POST', `${path}/import`, { body: ids.map(row => row.id) })
        const { body: text } = await program.ask('GET', `${path}/export/${format}`)
        await program.sql`delete from playlist_tracks where playlist_id = ${playlistId}`
        const before = await program.sql`select * from media where station_id = ${id} order by id`
        await send(program, `${path}/import`, text)
        expect(await tracksOf(program, playlistId)).toEqual(songs)
        expect([...(await program.sql`select * from media where station_id = ${id} order by id`)]).toEqual([
          ...before
        ])
      }),
      { numRuns: 30 }
    )
  }, 60_000)
})

test('concurrent imports into one playlist add each song once', async ({ program }) => {
  const { id, playlistId, path } = await quiet(program)
  const list = Array.from({ length: 300 }, (_, n) => `https://example.com/${n}`)
  const responses = await Promise.all(
    Array.from({ length: 6 }, () => program.ask('POST', `${path}/import`, { body: list }))
  )
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
  expect(await tracksOf(program, playlistId)).toEqual(list)
  expect(await program.sql`select from media where station_id = ${id}`).toHaveLength(300)
})

test('an import that waits for another does not delay playback', async ({ program }) => {
  const { id, playlistId, document } = await startPlaying(program)
  const pending = await program.sql.begin(async tx => {
    await lockImports(tx, id)
    const response = program.ask('POST', `/api/station/${id}/playlist/${playlistId}/import`, {
      body: ['x.mp3']
    })
    await waitFor(
      async () =>
        (await program.sql`select from pg_locks where locktype = 'advisory' and not granted`).length > 0,
      { deadlineMs: 5_000, what: 'the list to wait' }
    )
    expect((await program.ask('POST', `/api/station/${id}/backend/skip`)).status).toBe(200)
    await shownWhen(program, id, body => body.now_playing.sh_id !== document.now_playing.sh_id, 2_000)
    return { response }
  })
  expect((await pending.response).status).toBe(200)
})
