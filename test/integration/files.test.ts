import { describe, expect } from 'vitest'

import { artistKeys, titleKey } from '../../src/model/songs/duplicate-keys.ts'
import { computeSongId } from '../../src/model/songs/song.ts'
import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { followStation, shownWhen, startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStation, seedStations } from '../support/stations.ts'

const recordKeys =
  'id unique_id song_id art path title artist album genre isrc lyrics text length size mtime playlists custom_fields extra_metadata'

const aSong = {
  path: 'ishizaka/aria.mp3',
  title: 'Aria',
  artist: 'Kimiko Ishizaka',
  album: 'Open Goldberg',
  genre: 'Baroque',
  isrc: 'ZZABC2600001',
  lyrics: 'none\nat all',
  length: 300
}

async function register(program: Program, stationId: number, parts: object = {}) {
  const { status, body } = await program.ask('POST', `/api/station/${stationId}/files`, {
    body: { ...aSong, ...parts }
  })
  return { status, body, path: `/api/station/${stationId}/file/${body.id}` }
}

const fieldsOf = ({ body }: { body: JsonBody }) =>
  body.extra_data.errors.map(({ field, code }: { field: string; code: string }) => `${field}: ${code}`)

/** The media and the path of a song that is shown. */
async function fileOf(program: Program, stationId: number, title: string) {
  const { body } = await program.ask('GET', `/api/station/${stationId}/files?searchPhrase=${title}`)
  const file = body.find((each: JsonBody) => each.title === title)
  return { file, path: `/api/station/${stationId}/file/${file.id}` }
}

describe('a song of the library', () => {
  test('is created with metadata, read, changed and deleted', async ({ program }) => {
    const [station] = await seedStations(program.sql, { tracks: 0 })
    const { id = 0, playlistId = 0 } = station ?? {}
    const { status, body, path } = await register(program, id, { playlists: [playlistId] })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(recordKeys.split(' '))
    expect(body).toMatchObject({
      ...aSong,
      unique_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      song_id: computeSongId('Kimiko Ishizaka - Aria'),
      text: 'Kimiko Ishizaka - Aria',
      art: `${program.baseUrl.replace('127.0.0.1', 'localhost')}/static/img/generic_song.jpg`,
      size: 0,
      mtime: 0,
      playlists: [playlistId],
      custom_fields: {}
    })
    expect(withoutCustomFields((await program.ask('GET', path)).body)).toEqual(withoutCustomFields(body))
    const list = await program.ask('GET', `/api/station/${id}/files?searchPhrase=goldberg`)
    expect(withoutCustomFields(list.body)).toEqual([withoutCustomFields(body)])
    expect(list.headers.get('x-total-count')).toBe('1')

    const changed = await program.ask('PUT', path, { body: { title: 'Variatio 1' } })
    expect(changed.body.message).toBe('Record updated successfully.')
    const after = { ...body, title: 'Variatio 1', text: 'Kimiko Ishizaka - Variatio 1' }
    expect(withoutCustomFields((await program.ask('GET', path)).body)).toEqual({
      ...withoutCustomFields(after),
      song_id: computeSongId('Kimiko Ishizaka - Variatio 1')
    })
    const [kept] = await program.sql`select title_key, artist_keys from media where id = ${body.id}`
    expect(kept).toEqual({ title_key: titleKey('variatio 1'), artist_keys: artistKeys('kimiko ishizaka') })

    expect((await program.ask('DELETE', path)).status).toBe(200)
    expect((await program.ask('GET', path)).status).toBe(404)
    expect((await program.ask('DELETE', path)).status).toBe(404)
    expect(await program.sql`select from playlist_tracks where playlist_id = ${playlistId}`).toHaveLength(0)
  })

  test('that is sent back as it was read does not change, even with an unusual path', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const [row] = await program.sql<{ id: number }[]>`
      insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms, size_bytes, modified_ms)
      values (${id}, 'abcdefabcdefabcdefabcdef', ${'/srv/music/\tbell\u0007 50%\n.mp3'}, ${computeSongId('\u{1F600}')},
        '', ${'\u{1F600}'.repeat(255)}, 215999, 12345678901, 1780000000999) returning id`
    const path = `/api/station/${id}/file/${row?.id}`
    const { body } = await program.ask('GET', path)
    expect(body).toMatchObject({ length: 215, size: 12345678901, mtime: 1780000000 })
    const before = await program.sql`select * from media where id = ${row?.id ?? 0}`
    for (const sent of [body, { song_id: 'ignored', unique_id: 7, art: null }])
      expect((await program.ask('PUT', path, { body: sent })).status).toBe(200)
    expect([...(await program.sql`select * from media where id = ${row?.id ?? 0}`)]).toEqual([...before])
    expect(before[0]).toMatchObject({ duration_ms: 215_999, path: '/srv/music/\tbell\u0007 50%\n.mp3' })
  })

  test('gets a title from its path if it has neither title nor artist', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const body = { path: 'https://example.com/music/D%C3%A9j%C3%A0%20Vu.mp3?x=1' }
    const { body: made } = await program.ask('POST', `/api/station/${id}/files`, { body })
    expect(made).toMatchObject({ title: 'Déjà Vu', artist: '', text: 'Déjà Vu', length: 0 })
    const { body: other } = await program.ask('POST', `/api/station/${id}/files`, {
      body: { path: './a//b/My song.flac' }
    })
    expect(other).toMatchObject({ title: 'My song', path: 'a/b/My song.flac' })
  })

  test('has a unique path', async ({ program }) => {
    const [one = 0, other = 0] = (await seedStations(program.sql, { tracks: 0, stations: 2 })).map(s => s.id)
    const first = await register(program, one)
    const again = await register(program, one, { path: './ishizaka//aria.mp3' })
    expect([again.status, again.body.type, fieldsOf(again)]).toEqual([
      409,
      'ConflictException',
      ['path: duplicate']
    ])
    expect((await register(program, other)).status).toBe(200)
    const second = await register(program, one, { path: 'b.mp3' })
    const moved = await program.ask('PUT', second.path, { body: { path: first.body.path } })
    expect(moved.status).toBe(409)
    expect(withoutCustomFields((await program.ask('GET', second.path)).body)).toEqual(
      withoutCustomFields(second.body)
    )
  })

  test('of another station is not found', async ({ program }) => {
    const [one = 0, other = 0] = (await seedStations(program.sql, { tracks: 0, stations: 2 })).map(s => s.id)
    const { body } = await register(program, one)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const options = method === 'PUT' ? { body: { title: 'x' } } : {}
      const response = await program.ask(method, `/api/station/${other}/file/${body.id}`, options)
      expect([method, response.status]).toEqual([method, 404])
    }
  })

  const bad: [name: string, body: unknown, problems: string[]][] = [
    ['nothing', {}, ['path: required']],
    ['a list', [], [': invalid_type']],
    ['blank', { path: '  ' }, ['path: blank']],
    ['a NUL', { path: 'a\0.mp3' }, ['path: invalid_format']],
    ['half a character', { path: '\uD800.mp3' }, ['path: invalid_format']],
    ['a line break', { path: 'a\nb.mp3' }, ['path: invalid_format']],
    ['a way out', { path: 'a/../../b.mp3' }, ['path: invalid_format']],
    ['an absolute path', { path: '/etc/passwd' }, ['path: invalid_format']],
    ['a file address', { path: 'file:///etc/passwd' }, ['path: invalid_format']],
    ['a command', { path: 'process:rm -rf /' }, ['path: invalid_format']],
    ['a password', { path: 'https://u:p@example.com/a.mp3' }, ['path: invalid_format']],
    ['a long path', { path: 'ä'.repeat(1_001) }, ['path: too_long']],
    [
      'long texts',
      { path: 'a', title: 'x'.repeat(256), album: 'x'.repeat(201) },
      ['title: too_long', 'album: too_long']
    ],
    [
      'types',
      { path: 1, title: [], length: 'x', playlists: 5, custom_fields: [] },
      [
        'path: invalid_type',
        'title: invalid_type',
        'length: invalid_type',
        'playlists: invalid_type',
        'custom_fields: invalid_type'
      ]
    ],
    ['lengths', { path: 'a', length: -1 }, ['length: out_of_range']],
    ['a foreign playlist', { path: 'a', playlists: [999_999_999] }, ['playlists.0: not_found']],
    [
      'too many playlists',
      { path: 'a', playlists: Array.from({ length: 501 }, (_, n) => n + 1) },
      ['playlists: too_long']
    ],
    [
      'unknown fields',
      { path: 'a', custom_fields: { nobody: 'x', constructor: 'y' } },
      ['custom_fields.nobody: unknown_key', 'custom_fields.constructor: unknown_key']
    ],
    [
      'values of fields',
      { path: 'a', custom_fields: { a: 1, b: 'x\0', c: 'x'.repeat(2_001) } },
      ['custom_fields.a: invalid_type', 'custom_fields.b: invalid_format', 'custom_fields.c: too_long']
    ]
  ]
  test.for(bad)('with invalid values is refused as a whole: %s', async ([, body, problems], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const response = await program.ask('POST', `/api/station/${id}/files`, { body })
    expect([response.status, fieldsOf(response)]).toEqual([400, problems])
    expect(await program.sql`select from media where station_id = ${id}`).toHaveLength(0)
  })

  test('may have an absolute path only below the media folder of the station', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await program.sql`
      with place as (
        insert into storage_locations (type, adapter, path, place) values ('station_media', 'local', '/srv/media', ${`/srv/${id}`})
        returning id
      )
      update stations set media_storage_location_id = (select id from place) where id = ${id}`
    expect((await register(program, id, { path: '/srv/media/a.mp3' })).status).toBe(200)
    for (const path of ['/srv/mediaother/a.mp3', '/srv/media/../a.mp3', '/srv/media/', '/srv/media'])
      expect((await register(program, id, { path })).status).toBe(400)
  })

  test('requires a separate permission for deletion', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const { path } = await register(program, id)
    const key = 'f11e5ed170f11e5e:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd'
    await program.sql`
      insert into api_keys (name, identifier, verifier, permissions)
      values ('editor', 'f11e5ed170f11e5e', sha256('cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd'), '["manage station media"]')`
    expect((await program.ask('PUT', path, { key, body: { title: 'x' } })).status).toBe(200)
    expect((await program.ask('DELETE', path, { key })).status).toBe(403)
    await program.sql`update api_keys set revoked_at = now() where identifier = 'f11e5ed170f11e5e'`
  })

  test('writes who changed which field to the audit log', async ({ program }) => {
    const [station] = await seedStations(program.sql, { tracks: 0 })
    const { id = 0, playlistId = 0 } = station ?? {}
    const { path, body } = await register(program, id)
    await program.ask('PUT', path, { body: { ...body, playlists: [playlistId], length: 12 } })
    await program.ask('PUT', path, { body: { playlists: [playlistId] } })
    await program.ask('DELETE', path)
    const rows = await program.sql`
      select method, record, record_id, fields from audit_log where station_id = ${id} order by id`
    expect(rows.map(({ method, record, record_id }) => [method, record, record_id])).toEqual(
      ['POST', 'PUT', 'DELETE'].map(method => [method, 'StationFile', String(body.id)])
    )
    expect(rows[1]?.['fields']).toEqual(['length', 'playlists'])
  })
})

describe('custom fields of a song', () => {
  test('are set by short name, kept if absent, and cleared by empty values', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const names = ['mood', '__proto__', 'constructor']
    // Other tests have fields of their own.
    const ofThese = (fields: object) => Object.entries(fields).filter(([name]) => names.includes(name))
    await program.ask('POST', '/api/admin/custom_fields', { body: { name: 'mood', short_name: 'mood' } })
    // The others are reserved; a former release accepted them.
    for (const name of names.slice(1))
      await program.sql`insert into custom_fields (name, short_name) values (${name}, ${name})`
    const { body, path } = await register(program, id, { custom_fields: { mood: 'calm', constructor: 'x' } })
    const values = async () => ofThese((await program.ask('GET', path)).body.custom_fields)
    expect(new Map(ofThese(body.custom_fields))).toEqual(
      new Map([
        ['__proto__', ''],
        ['constructor', 'x'],
        ['mood', 'calm']
      ])
    )
    const polluted = '{"custom_fields": {"mood": "wild", "__proto__": "polluted"}}'
    expect((await program.ask('PUT', path, { body: polluted })).status).toBe(400)
    await program.ask('PUT', path, { body: { custom_fields: { mood: 'wild' } } })
    expect(new Map(await values()).get('mood')).toBe('wild')
    expect(new Map(await values()).get('constructor')).toBe('x')
    await program.ask('PUT', path, { body: { custom_fields: { mood: '', constructor: null } } })
    expect((await values()).map(([, value]) => value)).toEqual(['', '', ''])
    await program.sql`delete from custom_fields where short_name in ${program.sql(names)}`
    expect(await values()).toEqual([])
  })
})

describe('a change of a song is published at once', () => {
  test('while it plays: over HTTP and WebSocket, only for the current play, and not as a new song', async ({
    program
  }) => {
    const { id, document } = await startPlaying(program)
    const { path } = await fileOf(program, id, document.now_playing.song.title)
    const widget = await followStation(program, id)
    await program.ask('PUT', path, { body: { artist: 'Corrected', title: 'Title <1>', lyrics: 'la la' } })
    const { np, triggers } = await widget.next(each => each.now_playing.song.artist === 'Corrected')
    expect(triggers).toEqual([])
    expect(np.now_playing).toMatchObject({
      sh_id: document.now_playing.sh_id,
      played_at: document.now_playing.played_at,
      song: { text: 'Corrected - Title <1>', id: computeSongId('Corrected - Title <1>'), lyrics: 'la la' }
    })
    const shown = await shownWhen(program, id, body => body.now_playing.song.artist === 'Corrected', 1_000)
    expect(shown.now_playing.sh_id).toBe(document.now_playing.sh_id)
    const [keys] = await program.sql`
      select h.title_key = m.title_key and h.artist_keys = m.artist_keys as "areSame"
      from song_history h join media m on m.id = h.media_id where h.id = ${document.now_playing.sh_id}`
    expect(keys).toEqual({ areSame: true })

    await program.ask('POST', `/api/station/${id}/backend/skip`)
    await program.ask('PUT', path, { body: { artist: 'Later', lyrics: 'lo lo' } })
    const ended = await widget.next(each => each.song_history[0]?.song.lyrics === 'lo lo')
    expect(ended.np.song_history[0].song).toMatchObject({ artist: 'Corrected', title: 'Title <1>' })
  })

  test('while it is next, including its length', async ({ program }) => {
    const { id, document } = await startPlaying(program)
    const { path } = await fileOf(program, id, document.playing_next.song.title)
    const widget = await followStation(program, id)
    await program.ask('PUT', path, { body: { artist: 'Next', length: 77 } })
    const { np } = await widget.next(each => each.playing_next.song.artist === 'Next')
    expect(np.playing_next.duration).toBe(77)
    const queue = (await program.ask('GET', `/api/station/${id}/queue`)).body
    expect(queue[1].played_at - queue[0].played_at).toBe(77)
  })

  test('unless the song is not shown', async ({ program }) => {
    const { id } = await startPlaying(program)
    const { path } = await register(program, id)
    const revision = async () => {
      const [row] = await program.sql<{ revision: number }[]>`select revision from stations where id = ${id}`
      return row?.revision
    }
    const before = await revision()
    await program.ask('PUT', path, { body: { artist: 'Nobody', length: 5 } })
    expect(await revision()).toBe(before)
  })
})

describe('the playlists of a song', () => {
  test('are replaced: it is appended to new ones and removed from others and the queue', async ({
    program
  }) => {
    const { id, playlistId, document } = await startPlaying(program)
    const { body: other } = await program.ask('POST', `/api/station/${id}/playlists`, {
      body: { name: 'Archive', is_enabled: false }
    })
    const { title } = document.playing_next.song
    const { file, path } = await fileOf(program, id, title)
    const widget = await followStation(program, id)
    await program.ask('PUT', path, { body: { playlists: [other.id, String(other.id)] } })
    expect((await program.ask('GET', path)).body.playlists).toEqual([other.id])
    const { np } = await widget.next(each => each.playing_next.song.title !== title)
    expect(np.now_playing.sh_id).toBe(document.now_playing.sh_id)
    const queue = (await program.ask('GET', `/api/station/${id}/queue`)).body
    expect(queue).toHaveLength(3)
    expect(queue.map((row: JsonBody) => row.song.title)).not.toContain(title)
    await program.ask('PUT', path, { body: { playlists: [playlistId, other.id] } })
    const [last] = await program.sql`
      select media_id from playlist_tracks where playlist_id = ${playlistId} order by position desc limit 1`
    expect(last).toEqual({ media_id: file.id })
  })

  test('start a silent station', async ({ program }) => {
    const [station] = await seedStations(program.sql, { tracks: 0 })
    const { id = 0, playlistId = 0 } = station ?? {}
    await register(program, id, { playlists: [playlistId] })
    const shown = await shownWhen(program, id, body => body.is_online)
    expect(shown.now_playing.song.text).toBe('Kimiko Ishizaka - Aria')
  })
})

describe('deleting a song', () => {
  test('removes it from the queue at once; the current play continues, and history keeps its text', async ({
    program
  }) => {
    const { id, document } = await startPlaying(program)
    const next = await fileOf(program, id, document.playing_next.song.title)
    const onAir = await fileOf(program, id, document.now_playing.song.title)
    const widget = await followStation(program, id)
    await program.ask('DELETE', next.path)
    const { np } = await widget.next(each => each.playing_next.song.title !== next.file.title)
    expect(np.playing_next.song.title).not.toBe(onAir.file.title)
    expect((await program.ask('DELETE', onAir.path)).status).toBe(200)
    const queue = (await program.ask('GET', `/api/station/${id}/queue`)).body
    expect(queue).toHaveLength(3)
    const still = await shownWhen(program, id, () => true)
    expect(still.now_playing.song.title).toBe(onAir.file.title)
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    const after = await widget.next(each => each.song_history.length > 0)
    expect(after.np.song_history[0].song.title).toBe(onAir.file.title)
  })

  test('that was sent to the playout is refused', async ({ program }) => {
    const { id, document } = await startPlaying(program)
    const { path } = await fileOf(program, id, document.playing_next.song.title)
    await program.sql`update queue set is_sent = true where station_id = ${id} and played_at_ms is null
      and position = (select min(position) from queue where station_id = ${id} and played_at_ms is null)`
    const refused = await program.ask('DELETE', path)
    expect([refused.status, refused.body.type]).toEqual([409, 'ConflictException'])
    expect((await program.ask('GET', path)).status).toBe(200)
  })

  test('that is the last of a station empties the queue, published at once', async ({ program }) => {
    const { id, document } = await startPlaying(program, { tracks: 1 })
    const { path } = await fileOf(program, id, document.now_playing.song.title)
    const widget = await followStation(program, id)
    await program.ask('DELETE', path)
    const { np } = await widget.next(each => each.playing_next === null)
    expect(np.now_playing.song.title).toBe(document.now_playing.song.title)
  })
})

test('concurrent writes all succeed, and the queue stays consistent', async ({ program }) => {
  const { id, playlistId } = await startPlaying(program)
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      register(program, id, { path: `many/${n}`, playlists: [playlistId] })
    )
  )
  await Promise.all(
    made.flatMap(({ path }, n) => [
      program.ask('PUT', path, { body: { title: `T${n}` } }),
      program.ask('PUT', path, { body: { artist: `A${n}` } })
    ])
  )
  const { body } = await program.ask('GET', `/api/station/${id}/files?searchPhrase=many/`)
  expect(body.map((each: JsonBody) => each.text).toSorted()).toEqual(
    made.map((_, n) => `A${n} - T${n}`).toSorted()
  )
  const [row] = await program.sql`
    select count(*) as rows, count(distinct position) as positions from playlist_tracks
    where playlist_id = ${playlistId}`
  expect(row).toEqual({ rows: 40, positions: 40 })
})
