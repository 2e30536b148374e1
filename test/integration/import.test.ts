import { execFileSync } from 'node:child_process'
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { expect } from 'vitest'

import { createDemoStation } from '../../src/commands/demo/demo.ts'
import { importMedia, type ImportEvent } from '../../src/commands/import/import.ts'
import { computeSongId } from '../../src/model/songs/song.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { insertStation } from '../../src/stores/db/stations.ts'
import { apic, mp3, png, txxx, wav } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { sized } from '../support/tier.ts'

/** A station and imports into it; skipped files are collected as "name: reason". */
async function openImport(sql: Sql, shortName = 'harbour') {
  const stationId = await insertStation(sql, { shortName, name: 'Harbour FM' })
  if (stationId === null) throw new Error('the station exists')
  const problems: string[] = []
  const onProgress = (event: ImportEvent) => {
    if (event.skipReason) problems.push(`${event.path.split('/').at(-1)}: ${event.skipReason}`)
  }
  const runWith = async (options: { paths: string[]; allowed?: string[] }) =>
    importMedia(sql, { stationId, playlistName: 'Rotation', ...options, onProgress })
  return { stationId, problems, run: async (...paths: string[]) => runWith({ paths }), runWith }
}

async function titles(sql: Sql): Promise<string[]> {
  const rows = await sql<{ title: string }[]>`
    select title from playlist_tracks join media on media.id = media_id order by playlist_id, position`
  return rows.map(row => row.title)
}

/** Every row of every table an import may touch, with the transaction that wrote it. */
async function snapshot(sql: Sql): Promise<unknown> {
  return Promise.all(
    ['stations', 'hls_streams', 'media', 'artwork', 'playlists', 'playlist_tracks'].map(
      async table => sql`select xmin::text, * from ${sql(table)} as row order by row::text`
    )
  )
}

test('a folder is imported as media and a playlist, ordered by name', async ({ sql }) => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'b'))
  await writeFile(join(folder, '10.mp3'), mp3({ TPE1: 'Nils Okada', TIT2: 'Ten', TALB: 'Low', TSRC: 'ZZ1' }))
  await writeFile(join(folder, '9.WAV'), wav({ IART: 'Nils Okada', INAM: 'Nine' }))
  await writeFile(join(folder, 'b', 'c.mp3'), mp3({ TIT2: 'Deep' }))
  await writeFile(join(folder, '.hidden.mp3'), mp3({ TIT2: 'Hidden' }))
  await writeFile(join(folder, 'cover.jpg'), 'no audio file by its name')
  const { stationId, run, problems } = await openImport(sql)
  expect(await run(folder)).toEqual({
    found: 3,
    added: 3,
    updated: 0,
    unchanged: 0,
    skipped: 0
  })
  expect(problems).toEqual([])
  expect(await titles(sql)).toEqual(['Nine', 'Ten', 'Deep'])
  const [ten] = await sql`select * from media where title = 'Ten'`
  expect(ten).toMatchObject({
    station_id: stationId,
    path: join(folder, '10.mp3'),
    song_id: computeSongId('Nils Okada - Ten'),
    artist: 'Nils Okada',
    album: 'Low',
    isrc: 'ZZ1',
    artwork_hash: null
  })
  expect(ten?.['unique_id']).toMatch(/^[0-9a-f]{24}$/)
  expect(ten?.['duration_ms']).toBeGreaterThan(900)
  const playlists = await sql`select name, type, source, weight, is_enabled, is_jingle from playlists`
  expect([...playlists]).toEqual([
    { name: 'Rotation', type: 'default', source: 'songs', weight: 3, is_enabled: true, is_jingle: false }
  ])
})

test('a repeated import changes no row of any table', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3({ TIT2: 'A' }, 40, [apic(png('one'))]))
  await writeFile(join(folder, 'b.mp3'), 'broken')
  const list = join(folder, 'list.m3u')
  await writeFile(
    list,
    '#EXTM3U\n#EXTINF:60,X - Y\nhttps://example.com/y.mp3\na.mp3\nhttps://example.com/z.mp3\n'
  )
  const { run } = await openImport(sql)
  const first = await run(folder, list)
  expect(first).toMatchObject({ found: 5, added: 3, unchanged: 1, skipped: 1 })
  const before = await snapshot(sql)
  const second = await run(folder, list)
  expect(second).toMatchObject({ found: 5, added: 0, updated: 0, unchanged: 4, skipped: 1 })
  expect(await snapshot(sql)).toEqual(before)
})

test('changed tags and covers update the row in place', async ({ sql }) => {
  const folder = await scratchFolder()
  const path = join(folder, 'a.mp3')
  await writeFile(path, mp3({ TIT2: 'Old' }, 40, [apic(png('old'))]))
  const { run } = await openImport(sql)
  await run(folder)
  const [old] = await sql`select id, unique_id, artwork_hash from media`
  await writeFile(path, mp3({ TIT2: 'New' }, 80, [apic(png('new'))]))
  expect(await run(folder)).toMatchObject({ added: 0, updated: 1 })
  const rows = await sql`select id, unique_id, artwork_hash, title, duration_ms from media`
  expect(rows.length).toBe(1)
  expect(rows[0]).toMatchObject({ id: old?.['id'], unique_id: old?.['unique_id'], title: 'New' })
  expect(rows[0]?.['artwork_hash']).not.toBe(old?.['artwork_hash'])
  expect(rows[0]?.['duration_ms']).toBeGreaterThan(2_000)
  expect(await titles(sql)).toEqual(['New'])
})

test('a file of the same size and modification time is not opened again', async ({ sql }) => {
  const folder = await scratchFolder()
  const path = join(folder, 'a.mp3')
  const time = new Date(1_700_000_000_000)
  await writeFile(path, mp3({ TIT2: 'One' }))
  await utimes(path, time, time)
  const { run } = await openImport(sql)
  await run(folder)
  await writeFile(path, mp3({ TIT2: 'Two' }))
  await utimes(path, time, time)
  expect(await run(folder)).toMatchObject({ updated: 0, unchanged: 1 })
  expect(await titles(sql)).toEqual(['One'])
})

const cueColumns = 'cue_in_ms cue_out_ms start_next_ms fade_in_ms fade_out_ms amplify_db'.split(' ')

/** The cue points of the only song, without those that are unknown. */
async function cuesIn(sql: Sql) {
  const [song = {}] = await sql`select ${sql(cueColumns)} from media`
  return Object.fromEntries(Object.entries(song).filter(([, value]) => value !== null))
}

test('cue points and gain follow the tags of a changed file, except those that an operator set', async ({
  sql
}) => {
  const path = join(await scratchFolder(), 'a.mp3')
  await writeFile(path, mp3({}, 40, [txxx('liq_cue_in', '0.25'), txxx('REPLAYGAIN_TRACK_GAIN', '-3 dB')]))
  const { run } = await openImport(sql)
  await run(path)
  expect(await cuesIn(sql)).toEqual({ cue_in_ms: 250, amplify_db: -3 })
  await sql`update media set cue_in_ms = 500, operator_cues = '{cue_in_ms}', fade_in_ms = 100`
  expect(await run(path)).toMatchObject({ unchanged: 1 })
  expect(await cuesIn(sql)).toEqual({ cue_in_ms: 500, fade_in_ms: 100, amplify_db: -3 })
  await writeFile(path, mp3({}, 50, [txxx('liq_cue_in', '0.1'), txxx('liq_fade_out', '0.2')]))
  expect(await run(path)).toMatchObject({ updated: 1 })
  expect(await cuesIn(sql)).toEqual({ cue_in_ms: 500, fade_out_ms: 200 })
})

test('a file that an earlier release imported is read once more for its cue points only', async ({ sql }) => {
  const path = join(await scratchFolder(), 'a.mp3')
  await writeFile(path, mp3({ TIT2: 'Tag' }, 40, [txxx('liq_cue_in', '0.25')]))
  const { run } = await openImport(sql)
  await run(path)
  await sql`update media set tag_version = 0, cue_in_ms = null, title = 'Edited'`
  expect(await run(path)).toMatchObject({ updated: 1, unchanged: 0 })
  expect(await cuesIn(sql)).toEqual({ cue_in_ms: 250 })
  expect(await titles(sql)).toEqual(['Edited'])
  expect(await run(path)).toMatchObject({ updated: 0, unchanged: 1 })
})

test('a cover shared by many songs is stored once', async ({ sql }) => {
  const folder = await scratchFolder()
  for (const name of ['a', 'b', 'c']) {
    await writeFile(join(folder, `${name}.mp3`), mp3({ TIT2: name }, 40, [apic(png('same'))]))
  }
  await (await openImport(sql)).run(folder)
  const artwork = await sql`select hash, content_type, bytes from artwork`
  expect(artwork.length).toBe(1)
  expect(artwork[0]).toMatchObject({ content_type: 'image/png', bytes: png('same') })
  expect(artwork[0]?.['hash']).toMatch(/^[0-9a-f]{64}$/)
  const [used] = await sql`select count(*) as count from media where artwork_hash is not null`
  expect(used).toEqual({ count: 3 })
})

test('a batch with large covers is written in parts', async ({ sql }) => {
  const folder = await scratchFolder()
  // Two or three parts of 16 MiB.
  const names = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].slice(0, sized({ quick: 4, deep: 9 }))
  for (const name of names) {
    const cover = apic(png(name.repeat(4_900_000)))
    await writeFile(join(folder, `${name}.mp3`), mp3({ TIT2: name }, 40, [cover]))
  }
  expect(await (await openImport(sql)).run(folder)).toMatchObject({ added: names.length })
  expect(await titles(sql)).toEqual(names)
})

test('unusable files are skipped and reported', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3({ TIT2: 'A' }))
  await writeFile(join(folder, 'b.mp3'), 'text')
  await writeFile(join(folder, 'c.mp3'), '')
  execFileSync('mkfifo', [join(folder, 'd.mp3')])
  await symlink('nowhere.mp3', join(folder, 'e.mp3'))
  const { run, problems } = await openImport(sql)
  expect(await run(folder)).toEqual({
    found: 5,
    added: 1,
    updated: 0,
    unchanged: 0,
    skipped: 4
  })
  expect(problems).toEqual([
    'b.mp3: it is not audio',
    'c.mp3: it is empty',
    'd.mp3: it is not a regular file',
    'e.mp3: it does not exist'
  ])
})

test('without usable files no playlist is created', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), 'text')
  await (await openImport(sql)).run(folder)
  expect([...(await sql`select * from playlists`)]).toEqual([])
})

test('a playlist file imports local files and remote addresses in its order', async ({ sql }) => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'disc 1'))
  await writeFile(join(folder, 'disc 1', 'a.mp3'), mp3({ TPE1: 'Tag', TIT2: 'From the tag' }))
  const list = join(folder, 'list.M3U8')
  await writeFile(
    list,
    '#EXTM3U\r\n#EXTINF:75.5,Mara Quist - Tidewater\r\nhttps://example.com/tide%20water.mp3\r\n' +
      '#EXTINF:1,Not - This\r\ndisc 1\\a.mp3\r\ngone.mp3\r\nlist.M3U8\r\nhttps://example.com/night%20ferry.mp3\r\n'
  )
  const { run, problems } = await openImport(sql)
  expect(await run(list)).toMatchObject({ found: 5, added: 3, skipped: 2 })
  expect(await titles(sql)).toEqual(['Tidewater', 'From the tag', 'night ferry'])
  expect(problems).toEqual([
    'gone.mp3: it does not exist',
    'list.M3U8: its name has no extension of an audio file'
  ])
  const [remote] = await sql`select path, artist, title, duration_ms from media where title = 'Tidewater'`
  expect(remote).toEqual({
    path: 'https://example.com/tide%20water.mp3',
    artist: 'Mara Quist',
    title: 'Tidewater',
    duration_ms: 75_500
  })
  const [unknown] = await sql`select duration_ms from media where title = 'night ferry'`
  expect(unknown).toEqual({ duration_ms: 0 })
})

test('a list without titles keeps the tags of a remote song', async ({ sql }) => {
  const list = join(await scratchFolder(), 'list.pls')
  await writeFile(list, '[playlist]\nFile1=http://example.com/a\nTitle1=A - B\nLength1=10\n')
  const { run } = await openImport(sql)
  await run(list)
  await sql`update media set album = 'Kept'`
  await writeFile(list, '[playlist]\nFile1=http://example.com/a\n')
  expect(await run(list)).toMatchObject({ updated: 0, unchanged: 1 })
  await writeFile(list, '[playlist]\nFile1=http://example.com/a\nLength1=20\n')
  expect(await run(list)).toMatchObject({ updated: 1, unchanged: 0 })
  const [song] = await sql`select artist, title, album, duration_ms from media`
  expect(song).toEqual({ artist: 'A', title: 'B', album: 'Kept', duration_ms: 20_000 })
})

test('a song listed twice is in the playlist once; new songs go to the end', async ({ sql }) => {
  const folder = await scratchFolder()
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder, `${name}.mp3`), mp3({ TIT2: name }))
  const list = join(folder, 'list.m3u')
  await writeFile(list, 'c.mp3\nb.mp3\nc.mp3\n')
  const { run } = await openImport(sql)
  expect(await run(list)).toMatchObject({ found: 3, added: 2, unchanged: 1 })
  expect(await run(folder)).toMatchObject({ found: 3, added: 1, unchanged: 2 })
  expect(await titles(sql)).toEqual(['c', 'b', 'a'])
})

test('links are followed once, loops are skipped', async ({ sql }) => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'real'))
  await writeFile(join(folder, 'real', 'a.mp3'), mp3({ TIT2: 'A' }))
  await symlink('..', join(folder, 'real', 'up'))
  await symlink('real', join(folder, 'again'))
  await symlink('real/a.mp3', join(folder, 'link.mp3'))
  await symlink('self.mp3', join(folder, 'self.mp3'))
  const { run, problems } = await openImport(sql)
  expect(await run(folder)).toMatchObject({ found: 3, added: 1, unchanged: 1, skipped: 1 })
  expect(problems).toEqual(['self.mp3: its links form a loop'])
  const media = await sql`select path from media`
  expect([...media]).toEqual([{ path: join(folder, 'real', 'a.mp3') }])
})

const outside = 'it is outside the folders of this import (name its folder as a PATH, or with --allow)'

test('links and playlist entries outside the folders of an import are skipped', async ({ sql }) => {
  const [folder, other] = [await scratchFolder(), await scratchFolder()]
  await mkdir(join(other, 'deep'))
  await writeFile(join(folder, 'a.mp3'), mp3({ TIT2: 'A' }))
  await writeFile(join(other, 'b.mp3'), mp3({ TIT2: 'B' }))
  await writeFile(join(other, 'deep', 'c.mp3'), mp3({ TIT2: 'C' }))
  await symlink(other, join(folder, 'folder'))
  await symlink(join(other, 'b.mp3'), join(folder, 'link.mp3'))
  const list = join(folder, 'list.m3u')
  await writeFile(list, `${join(other, 'b.mp3')}\n${relative(folder, join(other, 'deep', 'c.mp3'))}\na.mp3\n`)
  const { run, runWith, problems } = await openImport(sql)
  expect(await run(folder, list)).toMatchObject({ added: 1, skipped: 4 })
  expect(problems).toEqual([
    `folder: ${outside}`,
    `link.mp3: ${outside}`,
    `b.mp3: ${outside}`,
    `c.mp3: ${outside}`
  ])
  // A path that is itself a link stands for its target.
  await symlink(folder, join(other, 'way'))
  expect(await run(join(other, 'way'))).toMatchObject({ added: 0, unchanged: 1 })
  expect(await runWith({ paths: [folder, list], allowed: [other] })).toMatchObject({ added: 2, skipped: 0 })
  expect(await titles(sql)).toEqual(['A', 'B', 'C'])
})

test('names with quotes, emoji and line feeds are kept, invalid UTF-8 is skipped', async ({ sql }) => {
  const folder = await scratchFolder()
  const names = [`it's "q".mp3`, '\u{1F600}.mp3', 'two\nlines.mp3']
  for (const name of names) await writeFile(join(folder, name), mp3())
  await writeFile(
    Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff]), Buffer.from('.mp3')]),
    mp3()
  )
  const { run, problems } = await openImport(sql)
  expect(await run(folder)).toMatchObject({ found: 4, added: 3, skipped: 1 })
  expect(problems).toEqual(['bad\uFFFD.mp3: its name is not valid UTF-8'])
  const paths = (await sql<{ path: string }[]>`select path from media`).map(row => row.path)
  expect(paths.toSorted()).toEqual(names.map(name => join(folder, name)).toSorted())
  const [song] = await sql`select title from media where path like '%lines%'`
  expect(song).toEqual({ title: 'two lines' })
})

test('a path that cannot be read fails the import before anything is written', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3())
  const { run } = await openImport(sql)
  await expect(run(folder, join(folder, 'gone'))).rejects.toThrow(/cannot read ".*gone": it does not exist/)
  execFileSync('mkfifo', [join(folder, 'fifo.mp3')])
  await expect(run(join(folder, 'fifo.mp3'))).rejects.toThrow('it is neither a file nor a folder')
  expect([...(await sql`select * from media`)]).toEqual([])
})

test('a requested file that is not audio by its name is reported', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'notes.txt'), 'words')
  await writeFile(join(folder, 'words.m3u'), 'only words')
  const { run, problems } = await openImport(sql)
  expect(await run(join(folder, 'notes.txt'), join(folder, 'words.m3u'))).toMatchObject({
    found: 2,
    skipped: 2
  })
  expect(problems).toEqual([
    'notes.txt: its name has no extension of an audio file or playlist',
    'words.m3u: it is not a playlist (no line names an audio file)'
  ])
})

test('concurrent imports duplicate nothing', async ({ sql }) => {
  const folder = await scratchFolder()
  const files = sized({ quick: 120, deep: 250 })
  for (let i = 0; i < files; i += 1) {
    await writeFile(join(folder, `${i}.mp3`), mp3({ TIT2: `Song ${i}` }, 40, [apic(png(String(i % 7)))]))
  }
  const { run } = await openImport(sql)
  const [one, two] = await Promise.all([run(folder), run(folder)])
  expect(one.added + two.added).toBe(files)
  expect(one.updated + two.updated).toBe(0)
  const [rows] = await sql`
    select (select count(*) from media) as media, (select count(*) from artwork) as artwork,
      (select count(*) from playlists) as playlists,
      count(*) as tracks, count(distinct media_id) as songs, count(distinct position) as positions
    from playlist_tracks`
  expect(rows).toEqual({
    media: files,
    artwork: 7,
    playlists: 1,
    tracks: files,
    songs: files,
    positions: files
  })
})

test('an aborted import ends after its batch', async ({ sql }) => {
  const folder = await scratchFolder()
  for (let i = 0; i < 250; i += 1) await writeFile(join(folder, `${i}.mp3`), mp3({ TIT2: `Song ${i}` }))
  const { stationId } = await openImport(sql)
  const abort = new AbortController()
  const onProgress = (event: ImportEvent) => {
    if (event.counts.found === 130) abort.abort()
  }
  const options = { stationId, playlistName: 'Rotation', paths: [folder], onProgress, signal: abort.signal }
  expect(await importMedia(sql, options)).toMatchObject({ found: 200, added: 200 })
  expect((await titles(sql)).length).toBe(200)
  expect(await importMedia(sql, { ...options, signal: AbortSignal.abort() })).toMatchObject({
    unchanged: 100
  })
})

test('a file may be imported into two stations', async ({ sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3())
  await (await openImport(sql, 'one')).run(folder)
  expect(await (await openImport(sql, 'two')).run(folder)).toMatchObject({ added: 1 })
  const [row] = await sql`select count(*) as count, count(distinct unique_id) as ids from media`
  expect(row).toEqual({ count: 2, ids: 2 })
})

test('the demo station is created once, with titles and durations', async ({ sql }) => {
  const [one, two] = await Promise.all([createDemoStation(sql), createDemoStation(sql)])
  expect(one).toBe(two)
  const before = await snapshot(sql)
  expect(await createDemoStation(sql)).toBe(one)
  expect(await snapshot(sql)).toEqual(before)
  const [row] = await sql`
    select count(*) as tracks, sum(duration_ms)::bigint as length_ms, count(distinct song_id) as songs
    from playlist_tracks join media on media.id = media_id`
  expect(row).toEqual({ tracks: 32, length_ms: 4_932_000, songs: 32 })
  const [first] = await sql`
    select path, artist, title, duration_ms from media join playlist_tracks on media.id = media_id order by position`
  expect(first).toEqual({
    path: 'catalogue:goldberg/01',
    artist: 'Kimiko Ishizaka',
    title: 'Aria',
    duration_ms: 300_000
  })
  const mounts =
    await sql`select name, autodj_bitrate, autodj_format, is_default, is_visible_on_public_pages from hls_streams`
  expect([...mounts]).toEqual([
    {
      name: '/radio.mp3',
      autodj_bitrate: 128,
      autodj_format: 'mp3',
      is_default: true,
      is_visible_on_public_pages: false
    }
  ])
})
