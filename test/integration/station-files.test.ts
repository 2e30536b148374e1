import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { parse } from 'csv-parse/sync'
import { describe, expect } from 'vitest'

import type { HeavyRead } from '../../src/api/core/heavy-reads.ts'
import { indexSongsOfLines } from '../../src/api/library/table/songs-of-lines.ts'
import { test as base } from '../support/fixtures.ts'
import { adminKey, type JsonBody } from '../support/program.ts'

interface Song {
  readonly id: number
  readonly path: string
}

/** A station with a playlist, songs in folders, and requests to its paths. */
const test = base.extend('station', async ({ program }) => {
  const made = await program.ask('POST', '/api/admin/stations', { body: { name: 'Harbour FM' } })
  const id = Number(made.body.id)
  const ask = (method: string, path: string, body?: unknown) =>
    program.ask(method, `/api/station/${id}${path}`, { body })
  const addSong = async (path: string, fields: object = {}): Promise<Song> =>
    (await ask('POST', '/files', { path, artist: 'A', title: path, length: 60, ...fields })).body
  const addPlaylist = async (fields: object): Promise<{ id: number }> =>
    (await ask('POST', '/playlists', fields)).body
  const send = (path: string, body: FormData | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${program.baseUrl}/api/station/${id}${path}`, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey, ...headers },
      body
    })
  return { id, ask, addSong, addPlaylist, send }
})

type Sending = (path: string, body: Buffer, headers: Record<string, string>) => Promise<Response>

const audio = join(import.meta.dirname, '../support/audio/tagged.mp3')

describe('the fallback track', () => {
  test('is uploaded, downloaded, in the script of Liquidsoap, and deleted', async ({ program, station }) => {
    const none = { hasRecord: false, url: null }
    expect((await station.ask('GET', '/fallback')).body).toEqual(none)
    expect((await station.ask('GET', '/fallback/download')).status).toBe(404)
    const bytes = await readFile(audio)
    const form = new FormData()
    form.set('file', new File([new Uint8Array(bytes)], 'rain.MP3'))
    expect((await station.send('/fallback', form)).status).toBe(200)
    const { body: stored } = await station.ask('GET', '/fallback')
    expect(stored.hasRecord).toBe(true)
    const download = await fetch(program.baseUrl + new URL(stored.url).pathname, {
      headers: { 'X-API-Key': adminKey }
    })
    expect(Buffer.from(await download.arrayBuffer())).toEqual(bytes)
    const script = async () => (await program.ask('GET', `/api/admin/station/${station.id}/liquidsoap`)).body
    expect(await script()).toContain(`/stations/${station.id}/config/fallback.mp3"`)
    expect(await station.ask('DELETE', '/fallback')).toMatchObject({ status: 200 })
    expect((await station.ask('GET', '/fallback')).body).toEqual(none)
    expect(await script()).toContain('fallback_path = ""')
  })

  test('is refused if it is no audio file, too many pieces, or has no name of a known format', async ({
    station
  }) => {
    const post = async (content: Uint8Array<ArrayBuffer>, name: string, chunks = '1') => {
      const form = new FormData()
      form.set('flowTotalChunks', chunks)
      form.set('file_data', new File([content], name))
      const response = await station.send('/fallback', form)
      const body: unknown = await response.json()
      return { status: response.status, body }
    }
    const bytes = new Uint8Array(await readFile(audio))
    const refused = (field: string) => ({ status: 400, body: { extra_data: { errors: [{ field }] } } })
    expect(await post(new TextEncoder().encode('no audio'), 'a.mp3')).toMatchObject(refused('file'))
    expect(await post(bytes, 'a.exe')).toMatchObject(refused('file'))
    expect(await post(bytes, 'a.mp3', '2')).toMatchObject(refused('flowTotalChunks'))
    expect(await post(new Uint8Array(), 'a.mp3')).toMatchObject(refused('file'))
    expect((await station.ask('GET', '/fallback')).body.hasRecord).toBe(false)
  })
})

test('the intro of a mount is uploaded, downloaded, and deleted, also with the mount', async ({
  program,
  station
}) => {
  const { body: mount } = await station.ask('POST', '/mounts', { name: '/low.mp3' })
  const path = `/mount/${mount.id}/intro`
  const bytes = await readFile(audio)
  const upload = async () => (await station.send(path, bytes, { 'Content-Type': 'audio/mpeg' })).status
  expect((await station.ask('GET', path)).status).toBe(404)
  const form = new FormData()
  form.set('intro', new File([new Uint8Array(bytes)], 'rain.mp3'))
  expect((await station.send(path, form)).status).toBe(200)
  const read = async () => {
    const url = `${program.baseUrl}/api/station/${station.id}${path}`
    return Buffer.from(await (await fetch(url, { headers: { 'X-API-Key': adminKey } })).arrayBuffer())
  }
  expect(await read()).toEqual(bytes)
  expect(await station.ask('DELETE', path)).toMatchObject({ status: 200 })
  expect((await station.ask('GET', path)).status).toBe(404)
  expect(await upload()).toBe(200)
  const stored = join(program.dataDir, 'stations', String(station.id), 'config')
  expect(await readdir(stored)).toEqual([`intro-${mount.id}.mp3`])
  await station.ask('DELETE', `/hls_stream/${mount.id}`)
  expect(await readdir(stored)).toEqual([])
  expect(await upload()).toBe(404)
})

describe('a playlist', () => {
  test('is copied with its schedule and songs', async ({ station }) => {
    const song = await station.addSong('a.mp3')
    const { id } = await station.addPlaylist({
      name: 'Rotation',
      weight: 7,
      order: 'sequential',
      schedule_items: [{ start_time: 900, end_time: 1000, days: [1] }]
    })
    await station.ask('PUT', `/file/${song.id}`, { playlists: [id] })
    const clone = (body: object) => station.ask('POST', `/playlist/${id}/clone`, body)
    expect(await clone({ name: 'Bare' })).toMatchObject({ status: 200 })
    expect(await clone({ name: 'Whole', clone: ['schedule', 'media'] })).toMatchObject({ status: 200 })
    const { body: playlists } = await station.ask('GET', '/playlists')
    expect(playlists).toMatchObject([
      { name: 'Bare', weight: 7, order: 'sequential', schedule_items: [] },
      { name: 'Rotation' },
      { name: 'Whole', weight: 7, schedule_items: [{ start_time: 900, end_time: 1000, days: [1] }] }
    ])
    const [bare, source, whole] = playlists
    expect(whole.schedule_items[0].id).not.toBe(source.schedule_items[0].id)
    const songs = async (playlist: number) => (await station.ask('GET', `/playlist/${playlist}/order`)).body
    expect(await songs(bare.id)).toEqual([])
    expect(await songs(whole.id)).toMatchObject([{ media_id: song.id }])
    expect(await clone({ clone: ['art'] })).toMatchObject({ status: 400 })
  })

  test('of a remote list is copied with its entry', async ({ station }) => {
    const remote = { source: 'remote_url', remote_url: 'https://example.com/live.mp3', remote_type: 'stream' }
    const { id } = await station.addPlaylist({ name: 'Relay', ...remote })
    await station.ask('POST', `/playlist/${id}/clone`, { name: 'Relay 2' })
    const { body: playlists } = await station.ask('GET', '/playlists')
    expect(playlists[1]).toMatchObject({ name: 'Relay 2', ...remote })
    const { body: queue } = await station.ask('GET', `/playlist/${playlists[1].id}/queue`)
    expect(queue.message).toBe('The playlist has no songs of the library.')
  })

  test('gets the songs of folders, or copies do', async ({ station }) => {
    for (const path of ['Jazz/a.mp3', 'Jazz/Cool/b.mp3', 'Rock/c.mp3']) await station.addSong(path)
    const { id } = await station.addPlaylist({ name: 'Rotation' })
    const path = `/playlist/${id}/apply-to`
    const { body: folders } = await station.ask('GET', path)
    expect(folders).toEqual({
      playlist: { id, name: 'Rotation' },
      directories: [
        { path: '', name: '/ (Base Directory)' },
        { path: 'Jazz', name: '/Jazz' },
        { path: 'Jazz/Cool', name: '/Jazz/Cool' },
        { path: 'Rock', name: '/Rock' }
      ]
    })
    const paths = async (playlist: number) => {
      const { body } = await station.ask('GET', `/playlist/${playlist}/order`)
      return body.map((song: Song) => song.path)
    }
    const applied = await station.ask('PUT', path, { directories: ['Jazz'] })
    expect(applied.body.message).toBe('Playlist applied to folders.')
    expect(await paths(id)).toEqual(['Jazz/Cool/b.mp3', 'Jazz/a.mp3'])
    await station.ask('PUT', path, { directories: ['', 'Rock'], copyPlaylist: true })
    expect(await paths(id)).toHaveLength(2)
    const { body: playlists } = await station.ask('GET', '/playlists')
    expect(playlists.map(({ name }: { name: string }) => name)).toEqual([
      'Rotation',
      'Rotation - /',
      'Rotation - Rock'
    ])
    expect(await paths(playlists[1].id)).toHaveLength(3)
    expect(await paths(playlists[2].id)).toEqual(['Rock/c.mp3'])
  })

  test.for(['sequential', 'shuffle'])(
    'with the order %s shows what is left in its pass',
    async (order, { program, station }) => {
      await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { backend: 'none' } })
      const { id } = await station.addPlaylist({ name: 'Rotation', order })
      for (const path of ['a.mp3', 'b.mp3', 'c.mp3']) await station.addSong(path, { playlists: [id] })
      const queue = async () => {
        const { body } = await station.ask('GET', `/playlist/${id}/queue`)
        return body.map(({ title }: { title: string }) => title)
      }
      const titles = await queue()
      expect(titles.toSorted()).toEqual(['a.mp3', 'b.mp3', 'c.mp3'])
      if (order === 'sequential') expect(titles).toEqual(['a.mp3', 'b.mp3', 'c.mp3'])
      await program.sql`
      update playlist_tracks t set last_pass = p.pass from playlists p, media m
      where p.id = t.playlist_id and m.id = t.media_id and p.id = ${id} and m.title = ${titles[0]}`
      expect(await queue()).toEqual(titles.slice(1))
      const page = await station.ask('GET', `/playlist/${id}/queue?per_page=1&page=2`)
      expect(page.body).toMatchObject({ total: 2, rows: [{ title: titles[2], last_played: null }] })
      expect(await station.ask('DELETE', `/playlist/${id}/queue`)).toMatchObject({ status: 200 })
      expect(await queue()).toHaveLength(3)
      await station.ask('PUT', `/playlist/${id}`, { order: 'random' })
      expect(await station.ask('GET', `/playlist/${id}/queue`)).toMatchObject({ status: 409 })
    }
  )
})

describe('the table of all songs', () => {
  const upload = async (station: { send: Sending }, path: string, content: string | Buffer) => {
    const response = await station.send(path, Buffer.from(content), { 'Content-Type': 'text/csv' })
    const body: JsonBody = await response.json()
    return body
  }

  test('changes nothing if it is uploaded as it was downloaded, whatever spreadsheet has saved it', async ({
    program,
    station
  }) => {
    const { id } = station
    const names = ['Rock; Pop', 'Rock', 'Pop', 'Rock', 'A, B', 'A', 'Top #10', '=1', "'=1"]
    const lists = []
    for (const name of names) lists.push((await station.addPlaylist({ name })).id)
    const [both = 0, , , newer = 0] = lists
    const titles = [
      '=1+1',
      "'=1",
      "'Til Tuesday",
      '-',
      '+44',
      '@x',
      '"quoted"',
      '1,5',
      '007',
      'a\u2019\u20ac'
    ]
    const playlists = [[both], [newer], [both, newer], lists, [], ...lists.map(list => [list])]
    const columns = { lyrics: 'one\ntwo', extra_metadata: { amplify: -3.25, fade_in: 1.5, cue_out: 59.125 } }
    for (const [index, title] of titles.entries())
      await station.addSong(`-${index}.mp3`, { title, ...columns, playlists: playlists[index] ?? [] })
    // Files have such texts.
    await program.sql`update media set title = '  leading', artist = E'\tTab', lyrics = E'one\r\ntwo'
      where station_id = ${id} and path = '-3.mp3'`
    const stored = async () => program.sql`
      select (select json_agg(m order by m.id) from media m where m.station_id = ${id}) as media,
        (select json_agg(array[t.id, t.playlist_id, t.media_id, t.position] order by t.id) from playlist_tracks t join playlists p on p.id = t.playlist_id
          where p.station_id = ${id}) as tracks,
        (select version from libraries where station_id = ${id}) as version,
        (select count(*)::int from audit_log where record = 'StationFile' and record_id in (
          select id::text from media where station_id = ${id})) as audits`
    const before = await stored()
    const { body: table } = await station.ask('GET', '/files/bulk')
    const text = String(table)
    expect(text.startsWith('\uFEFFid,')).toBe(true)
    const rows: string[][] = parse(text, { bom: true })
    const save = (separator: string, end: string, convert = (cell: string) => cell) =>
      rows
        .map(cells => cells.map(cell => `"${convert(cell).replaceAll('"', '""')}"`).join(separator) + end)
        .join('')
    const files = [
      text,
      text.slice(1),
      save(';', '\r\n'),
      `sep=;\n${save(';', '\n')}`,
      save(',', '\r', cell => cell.replaceAll(/\r?\n/g, '\r\n')),
      // A country with decimal commas.
      save(';', '\r\n', cell => (/^-?\d+\.\d+$/.test(cell) ? cell.replace('.', ',') : cell)),
      Buffer.from(`\uFEFF${save('\t', '\r\n')}`, 'utf16le'),
      Buffer.from(save(';', '\r\n').replaceAll('\u2019', '\x92').replaceAll('\u20ac', '\x80'), 'latin1')
    ]
    for (const file of files) {
      const { previewResults, message } = await upload(station, '/files/bulk/preview', file)
      expect([previewResults, message]).toEqual([[], '0 files will be modified.'])
      expect((await upload(station, '/files/bulk', file)).import_results).toEqual([])
    }
    expect(await stored()).toEqual(before)
  })

  test('reads the comma lists of AzuraCast for its clients, and refuses what is not clear', async ({
    program,
    station
  }) => {
    const ids = new Map<string, number>()
    for (const name of ['Rock', 'Pop', 'Pop', 'Jazz', 'Rock, Jazz'])
      ids.set(name, (await station.addPlaylist({ name })).id)
    const idOf = (name: string) => ids.get(name) ?? 0
    const song = await station.addSong('a.mp3')
    const { body: created } = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'Clients', dialect: 'azuracast', permissions: ['administer all'] }
    })
    const post = async (playlists: string, headers: Record<string, string> = {}) => {
      const file = Buffer.from(`path,playlists\na.mp3,"${playlists}"\n`)
      const response = await station.send('/files/bulk', file, { 'Content-Type': 'text/csv', ...headers })
      const { import_results: results }: JsonBody = await response.json()
      const { body } = await station.ask('GET', `/file/${song.id}`)
      return [results[0]?.error ?? null, body.playlists]
    }
    const azuracast = { 'X-API-Key': created.key }
    expect(await post('Rock, Jazz', azuracast)).toEqual([null, [idOf('Rock'), idOf('Jazz')]])
    expect(await post('Rock, Jazz')).toEqual([null, [idOf('Rock, Jazz')]])
    const [problem, kept] = await post('Pop')
    expect(problem).toMatch(
      /^Line 2, column playlists: "Pop" names 2 playlists: write "Pop #\d+" or "Pop #\d+"/
    )
    expect(kept).toEqual([idOf('Rock, Jazz')])
    expect(await post(`Rock; Pop #${idOf('Pop')}`)).toEqual([null, [idOf('Rock'), idOf('Pop')]])
  })

  test('ignores what a spreadsheet makes of texts, and reads the rest of their lines', async ({
    program,
    station
  }) => {
    const short = `part_${station.id}`
    await program.ask('POST', '/api/admin/custom_fields', { body: { name: short, short_name: short } })
    const { id: list } = await station.addPlaylist({ name: '2.0' })
    const saved = {
      '2.0': '2',
      '1.50': '1.5',
      '.5': '0.5',
      '007': '7',
      '1e5': '1E+05',
      '123456789012': '1.23457E+11',
      '50.0%': '50.00%',
      '1/2': '2-Jan',
      '3:30': '3:30:00',
      True: 'TRUE'
    }
    const songs: Song[] = []
    for (const title of Object.keys(saved))
      songs.push(
        await station.addSong(`${songs.length}.mp3`, {
          title,
          artist: title,
          album: title,
          custom_fields: { [short]: title },
          extra_metadata: { fade_in: 3.5 },
          playlists: [list]
        })
      )
    const read = async () =>
      Promise.all(songs.map(async ({ id }) => (await station.ask('GET', `/file/${id}`)).body))
    const before = await read()
    const file = (album: (cell: string) => string) =>
      [
        `path,title,artist,custom_field_${short},fade_in,playlists,album`,
        ...Object.values(saved).map(
          (cell, index) => `${index}.mp3,${cell},${cell},${cell},03. Mai,2.0 #${list},${album(cell)}`
        )
      ].join('\n')
    const columns = `(fade_in, title, artist, album, custom_field_${short})`
    const { previewResults, message } = await upload(
      station,
      '/files/bulk/preview',
      file(cell => cell)
    )
    expect(previewResults).toEqual([])
    expect(message).toMatch(
      /^0 files will be modified\. 10 of the lines have cells that a spreadsheet reformatted, which are ignored: 2 \(/
    )
    expect(message).toContain(`2 ${columns}`)
    expect(
      (
        await upload(
          station,
          '/files/bulk',
          file(cell => cell)
        )
      ).import_results
    ).toEqual([])
    expect(await read()).toEqual(before)
    const { import_results: results } = await upload(
      station,
      '/files/bulk',
      file(() => 'Tide')
    )
    expect(results.map(({ success }: JsonBody) => success)).toEqual(songs.map(() => true))
    expect(await read()).toMatchObject(
      before.map(song => ({
        title: song.title,
        artist: song.artist,
        album: 'Tide',
        custom_fields: song.custom_fields,
        playlists: song.playlists
      }))
    )
    // A song itself can have the number.
    const [song] = songs
    expect(await station.ask('PUT', `/file/${song?.id}`, { title: '2' })).toMatchObject({ status: 200 })
    expect((await station.ask('GET', `/file/${song?.id}`)).body.title).toBe('2')
    // What nothing makes of the other is a change.
    await upload(station, '/files/bulk', 'path,title\n0.mp3,2.0\n')
    expect((await station.ask('GET', `/file/${song?.id}`)).body.title).toBe('2.0')
  })

  test('finds a song by its path if a spreadsheet has shortened its unique id, and is read as UTF-16 without a mark', async ({
    station
  }) => {
    await station.addSong('Кино.mp3', { title: 'A' })
    const text = 'unique_id;path;title\r\n1.23457E+23;Кино.mp3;Группа крови\r\n'
    const bytes = Buffer.from(text, 'utf16le')
    for (const file of [bytes, Buffer.from(bytes).swap16()]) {
      const { previewResults } = await upload(station, '/files/bulk/preview', file)
      expect(previewResults).toMatchObject([
        { changes: { metadata: [{ field: 'title', current: 'A', new: 'Группа крови' }] }, error: null }
      ])
    }
  })

  test('refuses cells that are longer than any value, and does not look them up', async ({
    program,
    station
  }) => {
    const { id: list } = await station.addPlaylist({ name: 'P' })
    const song = await station.addSong('a.mp3', { title: 'A', playlists: [list] })
    const cells: [string, string, RegExp][] = [
      ['title', '"'.repeat(80_000), /Line 2, column title: must have at most 32767 characters/],
      ['title', `A${' '.repeat(40_000)}B`, /at most 32767 characters/],
      ['title', '\r'.repeat(160_000) + 'x', /at most 32767 characters/],
      ['fade_in', '1'.repeat(160_000), /at most 32767 characters/],
      ['playlists', ';'.repeat(160_000), /at most 32767 characters/],
      ['playlists', 'P ;'.repeat(60_000), /at most 32767 characters/]
    ]
    for (const [column, cell, problem] of cells) {
      const file = `path,${column}\na.mp3,"${cell.replaceAll('"', '""')}"\n`
      const { previewResults } = await upload(station, '/files/bulk/preview', file)
      expect(previewResults).toMatchObject([{ id: song.id, error: expect.stringMatching(problem) }])
    }
    const sent: unknown[] = []
    const reads = new Proxy(program.sql, {
      apply: (sql, self, [strings, ...values]) => {
        sent.push(...values.flat())
        return Reflect.apply(sql, self, [strings, ...values])
      }
    })
    const rows: HeavyRead['rows'] = async statement => program.sql`${statement}`
    const long = ['"'.repeat(80_000), 'e\u0301'.repeat(60_000), 'a'.repeat(2_001)]
    const names = [
      ...long.map(path => ['', path]),
      ...long.map(id => [id, '']),
      ['', 'a.mp3'],
      ['A'.repeat(24), '']
    ]
    const lines = names.map(([unique_id = '', path = ''], index) => ({
      line: index + 2,
      cells: new Map([
        ['unique_id', unique_id],
        ['path', path]
      ])
    }))
    const find = await indexSongsOfLines({ reads }, { rows }, { stationId: station.id, lines })
    expect(lines.map(line => find(line)?.path ?? null)).toEqual(
      names.map(([, path]) => (path === 'a.mp3' ? path : null))
    )
    expect(sent.filter(value => typeof value === 'string')).toEqual(['a.mp3'])
  })

  test('refuses lines that a spreadsheet has damaged, or that are cut off', async ({ station }) => {
    const paths = ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3', 'e.mp3']
    const titles = ['A', 'B', 'C', '\u6771\u4eac', 'Sea']
    for (const [index, title] of titles.entries())
      await station.addSong(paths[index] ?? '', { title, album: 'Tide' })
    const lines = [
      'a.mp3,Tide,,1.23457E+15',
      'b.mp3,Tide,,B\uFFFD',
      'c.mp3,Tide,01. Mai,C',
      'd.mp3,Tide,"1,234",??',
      'e.mp3,'
    ]
    const file = `path,album,fade_in,title\n${lines.join('\n')}`
    const { previewResults, message } = await upload(station, '/files/bulk/preview', file)
    expect(message).toMatch(/^0 files will be modified\. 5 of the lines have problems: 2, 3, 4, 5, 6\./)
    expect(previewResults.map(({ error }: JsonBody) => error)).toEqual([
      expect.stringMatching(/^Line 2, column title: is a number that a spreadsheet has shortened/),
      expect.stringMatching(/^Line 3, column title: has replacement characters/),
      expect.stringMatching(/^Line 4, column fade_in: must be a number/),
      expect.stringMatching(/^Line 5, column title: has lost characters .* column fade_in: must be a number/),
      expect.stringMatching(/^Line 6, column title: is missing/)
    ])
    const twice = 'path,title\na.mp3,One\na.mp3,Two\n'
    const { import_results: results } = await upload(station, '/files/bulk', twice)
    const error = expect.stringMatching(/^Line 3, .* of the same song as line 2/)
    expect(results).toMatchObject([{ success: true }, { success: false, error }])
  })

  test('is read in the charset that the request names', async ({ station }) => {
    await station.addSong('a.mp3', { title: 'A' })
    const file = Buffer.from('path,title\na.mp3,\xcb\xfe\xe1\xe8\xec\xe0\xff\n', 'latin1')
    const path = '/files/bulk/preview'
    const form = new FormData()
    form.set('file', new File([file], 'all.csv'))
    form.set('charset', 'cp1251')
    const requests: [string, Buffer | FormData, Record<string, string>?][] = [
      [path, file, { 'Content-Type': 'text/csv; charset=windows-1251' }],
      [`${path}?charset=windows-1251`, file, { 'Content-Type': 'text/csv' }],
      [path, form]
    ]
    for (const [url, body, headers] of requests) {
      const { previewResults }: JsonBody = await (await station.send(url, body, headers)).json()
      const metadata = [{ field: 'title', current: 'A', new: 'Любимая' }]
      expect(previewResults).toMatchObject([{ changes: { metadata }, error: null }])
    }
  })

  test('is downloaded, edited and uploaded again', async ({ program, station }) => {
    const short = `mood_${station.id}`
    await program.ask('POST', '/api/admin/custom_fields', { body: { name: 'Mood', short_name: short } })
    const { id } = await station.addPlaylist({ name: 'Rotation' })
    const night = await station.addPlaylist({ name: 'Night' })
    const first = await station.addSong('a.mp3', {
      title: '-Intro, "loud"',
      lyrics: 'one\ntwo',
      playlists: [id],
      custom_fields: { [short]: 'calm' },
      extra_metadata: { fade_in: 1.5 }
    })
    const second = await station.addSong('b.mp3')
    const { body: table, headers } = await station.ask('GET', '/files/bulk')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const post = async (path: string, text: string) => {
      const form = new FormData()
      form.set('file', new File([text], 'all.csv'))
      const response = await station.send(path, form)
      const body: JsonBody = await response.json()
      return { status: response.status, headers: response.headers, body }
    }
    expect((await post('/files/bulk', table)).body).toMatchObject({ success: true, import_results: [] })
    const edited = table
      .replace(`'-Intro, ""loud""`, 'Outro')
      .replace('Rotation', 'Night; Rotation')
      .replace('calm', '')
      .replace('1.5', '2')
      .replace(',b.mp3,b.mp3,A,', ',b.mp3,b.mp3,Sibyl,')
    const { body: seen } = await post('/files/bulk/preview', edited)
    expect(seen).toMatchObject({
      message: '2 files will be modified.',
      totalChanges: 2,
      previewResults: [
        {
          id: first.id,
          changes: {
            metadata: [{ field: 'title', current: '-Intro, "loud"', new: 'Outro' }],
            extra_metadata: [{ field: 'fade_in', current: '1.5', new: '2' }],
            custom_fields: [{ field: short, current: 'calm', new: '' }],
            playlists: { added: ['Night'], removed: [] }
          },
          error: null
        },
        { id: second.id, changes: { metadata: [{ field: 'artist', current: 'A', new: 'Sibyl' }] } }
      ]
    })
    expect((await station.ask('GET', `/file/${first.id}`)).body.title).toBe('-Intro, "loud"')
    const { body: applied } = await post('/files/bulk', edited)
    expect(applied.import_results).toMatchObject([{ success: true }, { success: true }])
    expect((await station.ask('GET', `/file/${first.id}`)).body).toMatchObject({
      title: 'Outro',
      lyrics: 'one\ntwo',
      custom_fields: { [short]: '' },
      extra_metadata: { fade_in: 2 },
      playlists: [id, night.id]
    })
    expect((await station.ask('GET', `/file/${second.id}`)).body).toMatchObject({ artist: 'Sibyl' })
    const wrong = await post(
      '/files/bulk',
      'path,playlists,fade_in,mooood\na.mp3,Day,,\nb.mp3,,no,,x\nc.mp3,,\n'
    )
    expect(wrong.status).toBe(400)
    expect((await post('/files/bulk/preview', 'name;title\na.mp3;A\n')).status).toBe(400)
    const faulty = 'path,playlists,fade_in,mooood\na.mp3,Day,,\nb.mp3,,no,\nnone.mp3,,,\n'
    const errors = [
      { id: first.id, error: 'Line 2, column playlists: "Day" is not a playlist of songs.' },
      { id: second.id, error: 'Line 3, column fade_in: must be a number.' }
    ]
    const { body: warned } = await post('/files/bulk/preview', faulty)
    expect(warned.message).toMatch(/^0 files will be modified\. 2 of the lines have problems: 2, 3\./)
    expect(warned.previewResults).toMatchObject(errors)
    const long = `path,cue_in,cue_out,isrc\na.mp3,,,${'x'.repeat(300)}\nb.mp3,5,3,\n`
    const { body: checked } = await post('/files/bulk/preview', long)
    expect(checked.previewResults).toMatchObject([
      { error: expect.stringMatching(/^Line 2, column isrc: must have at most/) },
      { error: 'Line 3, column cue_out: must be after cue_in.' }
    ])
    const partly = await post('/files/bulk', faulty)
    expect(partly.body.message).toBe('0 files processed. 1 of the lines are of no song of the station: 4.')
    expect(partly.headers.get('x-ignored-fields')).toBe('mooood')
    expect(partly.body.import_results).toMatchObject(errors.map(each => ({ ...each, success: false })))
  })
})

test('calendars show the periods of playlists and streamers', async ({ station }) => {
  const schedule_items = [{ start_time: 900, end_time: 1030 }]
  const { id } = await station.addPlaylist({ name: 'Morning', schedule_items })
  await station.ask('POST', '/streamers', {
    streamer_username: 'wren',
    display_name: 'DJ Wren',
    schedule_items
  })
  const period = '?start=2026-07-08&end=2026-07-09'
  const { body: events } = await station.ask('GET', `/playlists/schedule${period}`)
  expect(events).toMatchObject([
    { id, title: 'Morning', start: '2026-07-08T09:00:00+00:00', end: '2026-07-08T10:30:00+00:00' },
    { id, start: '2026-07-09T09:00:00+00:00' }
  ])
  expect(new URL(events[0].edit_url).pathname).toBe(`/api/station/${station.id}/playlist/${id}`)
  const { body: shows } = await station.ask('GET', `/streamers/schedule${period}`)
  expect(shows).toMatchObject([{ title: 'DJ Wren' }, { title: 'DJ Wren' }])
  const { status } = await station.ask('GET', '/playlists/schedule?start=2026-01-01&end=2026-12-31')
  expect(status).toBe(400)
})

test('folders are listed', async ({ station }) => {
  await station.addSong('Jazz/Cool/b.mp3')
  await station.ask('POST', '/files/mkdir', { name: 'Empty' })
  const rows = async (folder: string) =>
    (await station.ask('GET', `/files/directories?currentDirectory=${folder}`)).body.rows
  expect(await rows('')).toEqual([
    { name: 'Empty', path: 'Empty' },
    { name: 'Jazz', path: 'Jazz' }
  ])
  expect(await rows('Jazz')).toEqual([{ name: 'Cool', path: 'Jazz/Cool' }])
})

test.for([
  ['of samples from -128 to 127', [-128, 127, 0, 64], [-128, 127, 0, 64]],
  ['of samples from -1 to 1', [-1, 1, 0, 0.5], [-127, 127, 0, 64]]
] as const)('a waveform %s is stored', async ([, data, stored], { program, station }) => {
  const { id } = await station.addSong('a.mp3')
  const [media] = await program.sql<{ uniqueId: string }[]>`
    select unique_id as "uniqueId" from media where id = ${id}`
  const path = `/waveform/${media?.uniqueId}`
  const body = {
    version: 2,
    channels: 1,
    sample_rate: 44_100,
    samples_per_pixel: 512,
    bits: 8,
    length: 2,
    data
  }
  expect(await station.ask('POST', path, body)).toMatchObject({ status: 200 })
  expect((await station.ask('GET', `${path}.json`)).body).toEqual({ ...body, data: stored })
  const { status, body: refused } = await station.ask('POST', path, { ...body, data: [1, 2, 300] })
  expect([status, refused.extra_data.errors[0].field]).toEqual([400, 'data.2'])
})

test('covers and audio are found by the unique id, and audio by the song id', async ({
  program,
  station
}) => {
  const form = new FormData()
  form.set('currentDirectory', 'Jazz')
  form.set('file', new File([new Uint8Array(await readFile(audio))], 'a.mp3'))
  const stored = await station.send('/files/upload', form)
  expect(stored.status).toBe(200)
  const { body: song } = await station.ask('GET', `/file/${stored.headers.get('cuewire-file-id')}`)
  expect(song.path).toBe('Jazz/a.mp3')
  const headers = { 'X-API-Key': adminKey }
  for (const name of [song.id, song.unique_id, song.song_id]) {
    const url = `${program.baseUrl}/api/station/${station.id}/file/${name}/play`
    expect((await fetch(url, { headers })).headers.get('content-type')).toBe('audio/mpeg')
  }
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const image = { 'Content-Type': 'image/png' }
  expect((await station.send(`/art/${song.unique_id}`, png, image)).status).toBe(200)
  const cover = () =>
    fetch(`${program.baseUrl}/api/station/${station.id}/art/${song.unique_id}`, { redirect: 'manual' })
  expect((await cover()).headers.get('content-type')).toBe('image/png')
  expect(await station.ask('DELETE', `/art/${song.unique_id}`)).toMatchObject({ status: 200 })
  expect((await cover()).status).toBe(302)
  expect((await station.send(`/art/${song.song_id}`, png, image)).status).toBe(404)
})

test('the picture of a streamer is found without its version', async ({ program, station }) => {
  const { body: wren } = await station.ask('POST', '/streamers', { streamer_username: 'wren' })
  const path = `/streamer/${wren.id}/art`
  const read = () => fetch(`${program.baseUrl}/api/station/${station.id}${path}`, { redirect: 'manual' })
  expect((await read()).status).toBe(302)
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  expect((await station.send(path, png, { 'Content-Type': 'image/png' })).status).toBe(200)
  const found = await read()
  expect([found.status, found.headers.get('content-type')]).toEqual([200, 'image/png'])
})

test('the Liquidsoap script is exported, and code in it refused', async ({ station }) => {
  const { body: config } = await station.ask('GET', '/liquidsoap-config')
  expect(config).toMatchObject({ config: [{ is_field: false }], sections: [], contents: {} })
  const { body: script, headers } = await station.ask('GET', '/liquidsoap-config/export')
  expect(config.config[0].markup).toBe(script)
  expect(headers.get('content-disposition')).toContain('liquidsoap_harbour_fm')
  expect(await station.ask('PUT', '/liquidsoap-config', { custom_config: '' })).toMatchObject({ status: 200 })
  const { status, body } = await station.ask('PUT', '/liquidsoap-config', { custom_config: 'exit()' })
  expect([status, body.message]).toEqual([501, expect.stringContaining('not supported')])
})

test.for([
  ['DELETE', '/custom_assets/background'],
  ['POST', '/stereo-tool-configuration'],
  ['POST', '/liquidsoap-config/import']
] as const)('%s %s says why it is not supported', async ([method, path], { station }) => {
  const { status, body } = await station.ask(method, path)
  expect([status, body.type, body.message]).toEqual([
    501,
    'NotImplementedException',
    expect.stringMatching(/\. ?$|:/)
  ])
})
