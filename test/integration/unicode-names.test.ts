import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { importMedia } from '../../src/commands/import/import.ts'
import {
  findDuplicateNames,
  findStoredFolder,
  findStoredSongs
} from '../../src/stores/db/library/stored-names.ts'
import { insertStation } from '../../src/stores/db/stations.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { serveUploads } from '../support/upload-server.ts'

/** One name: composed, decomposed, and with only one of its accents composed. */
const nfc = 'Vi\u1EC7t \u00C9t\u00E9'
const nfd = nfc.normalize('NFD')
const mixed = 'Vi\u1EB9\u0302t E\u0301t\u00E9'

const aria = mp3({ TIT2: 'Aria' }, 100)
const other = mp3({ TIT2: 'Other' }, 120)

test('an upload replaces the song of its name in any form, whose bytes on disk keep their name', async ({
  sql,
  redisUrl
}) => {
  const { askJson, songs, media } = await serveUploads(sql, redisUrl)
  const upload = (path: string, bytes: Buffer) =>
    askJson('POST', '/files', { path, file: bytes.toString('base64') })
  for (const [index, [stored, given]] of [
    [nfc, nfd],
    [nfd, nfc],
    [mixed, nfd],
    [nfc, mixed]
  ].entries()) {
    const folder = `${index}/${stored}`
    await upload(`${folder}/${stored}.mp3`, aria)
    const { status, body } = await upload(`${index}/${given}/${given}.mp3`, other)
    expect({ status, path: body.path }).toEqual({ status: 200, path: `${folder}/${stored}.mp3` })
    // A new file in a folder that is known in another form.
    expect((await upload(`${index}/${given}/new.mp3`, aria)).body.path).toBe(`${folder}/new.mp3`)
    expect(await readdir(join(media, String(index)))).toEqual([stored])
    expect((await readFile(join(media, folder, `${stored}.mp3`))).equals(other)).toBe(true)
  }
  expect(await songs()).toHaveLength(8)
  const taken = await askJson('POST', '/files', { path: `0/${nfd}/${nfd}.mp3`, title: 'x' })
  expect(taken.body.extra_data.errors).toMatchObject([{ field: 'path', code: 'duplicate' }])
})

test('a file that is stored in another form than its song is found', async ({ sql, redisUrl }) => {
  const { ask, askJson, media, id } = await serveUploads(sql, redisUrl)
  await askJson('POST', '/files', { path: `${nfc}.mp3`, file: aria.toString('base64') })
  await rm(join(media, `${nfc}.mp3`))
  await writeFile(join(media, `${nfd}.mp3`), other)
  const reread = await askJson('PUT', '/files/batch', { do: 'reprocess', files: [`${nfd}.mp3`] })
  expect(reread.body).toMatchObject({ success: true, files: [`${nfc}.mp3`] })
  const [song] = await sql<
    { id: number; title: string }[]
  >`select id, title from media where station_id = ${id}`
  expect(song?.title).toBe('Other')
  await askJson('POST', '/files', { path: `${nfc}.mp3`, file: aria.toString('base64') })
  expect(await readdir(media)).toEqual([`${nfd}.mp3`])
  expect((await ask('DELETE', `/file/${song?.id}`)).status).toBe(200)
  expect(await readdir(media)).toEqual([])
})

test('of two songs of one name each is found, changed and deleted by its own form', async ({
  sql,
  redisUrl
}) => {
  const { askJson, media, id, songs } = await serveUploads(sql, redisUrl)
  await askJson('POST', '/files', { path: `${nfc}.mp3`, file: aria.toString('base64') })
  await writeFile(join(media, `${nfd}.mp3`), other)
  await sql`insert into media (station_id, unique_id, path, song_id, title, artist, duration_ms)
    values (${id}, 'pair', ${`${nfd}.mp3`}, md5('x'), 'Pair', '', 1000)`
  expect(await findDuplicateNames(sql, 3)).toMatchObject({ count: 1, first: [{ path: `${nfc}.mp3` }] })
  await askJson('POST', '/files', { path: `${nfd}.mp3`, file: other.toString('base64') })
  expect((await songs()).map(({ path, size }) => [path, size])).toEqual(
    expect.arrayContaining([
      [`${nfc}.mp3`, aria.length],
      [`${nfd}.mp3`, other.length]
    ])
  )
  const deleted = await askJson('PUT', '/files/batch', { do: 'delete', files: [`${nfd}.mp3`] })
  expect(deleted.body).toMatchObject({ success: true, files: [`${nfd}.mp3`] })
  expect(await readdir(media)).toEqual([`${nfc}.mp3`])
  expect(await findDuplicateNames(sql, 3)).toMatchObject({ count: 0 })
})

test('folders are listed, made, moved and assigned to playlists in any form', async ({ sql, redisUrl }) => {
  const { ask, askJson, songs, media, playlistId } = await serveUploads(sql, redisUrl)
  await askJson('POST', '/files', { path: `${nfd}/a.mp3`, file: aria.toString('base64') })
  expect((await askJson('POST', '/files/mkdir', { currentDirectory: '', name: nfc })).status).toBe(200)
  expect(await readdir(media)).toEqual([nfd])
  const list = await ask('GET', `/files/list?currentDirectory=${encodeURIComponent(nfc)}`)
  expect(list.body.rows).toMatchObject([{ path: `${nfd}/a.mp3` }])
  const search = await ask('GET', `/files/list?searchPhrase=${encodeURIComponent(nfc)}`)
  expect(search.body.rows).toMatchObject([{ path: `${nfd}/a.mp3` }])

  const applied = await askJson('PUT', `/playlist/${playlistId}/apply-to`, { directories: [mixed] })
  expect(applied.status).toBe(200)
  const tracks = async () => (await sql`select from playlist_tracks where playlist_id = ${playlistId}`).length
  expect(await tracks()).toBe(1)
  await askJson('POST', '/files', { path: `${nfc}/b.mp3`, file: aria.toString('base64') })
  expect(await tracks()).toBe(2)

  const moved = await askJson('PUT', '/files/rename', { file: nfc, newPath: 'plain' })
  expect(moved.status).toBe(200)
  expect((await songs()).map(({ path }) => path)).toEqual(['plain/a.mp3', 'plain/b.mp3'])
  expect(await tracks()).toBe(2)
  await askJson('PUT', '/files/rename', { file: 'plain/a.mp3', newPath: `${nfc}.mp3` })
  const taken = await askJson('PUT', '/files/rename', { file: 'plain/b.mp3', newPath: `${nfd}.mp3` })
  expect(taken.status).toBe(409)
  expect(await readdir(media)).toEqual(expect.arrayContaining([`${nfc}.mp3`]))
})

test('folders of playlists have the songs of imports in another form', async ({ sql }) => {
  const folder = await scratchFolder()
  const stationId = (await insertStation(sql, { shortName: 'harbour', name: 'Harbour FM' })) ?? 0
  const run = () => importMedia(sql, { stationId, playlistName: 'All', paths: [folder] })
  const [folders] = await sql<
    { id: number }[]
  >`insert into playlists (station_id, name, type, source, weight, is_enabled)
    values (${stationId}, 'Folder', 'default', 'songs', 3, true) returning id`
  await sql`insert into playlist_folders (playlist_id, path) values (${folders?.id ?? 0}, ${join(folder, nfc)})`
  await mkdir(join(folder, nfd))
  await writeFile(join(folder, nfd, 'a.mp3'), aria)
  await run()
  const tracks = await sql`select from playlist_tracks where playlist_id = ${folders?.id ?? 0}`
  expect(tracks).toHaveLength(1)
  expect(await findStoredFolder(sql, stationId, join(folder, mixed))).toBe(join(folder, nfd))
})

test('an import takes a file whose name has another form for the same song, and reports two files of one name', async ({
  sql
}) => {
  const folder = await scratchFolder()
  const stationId = (await insertStation(sql, { shortName: 'harbour', name: 'Harbour FM' })) ?? 0
  const notices: string[] = []
  const run = (...paths: string[]) =>
    importMedia(sql, {
      stationId,
      playlistName: 'All',
      paths,
      onProgress: ({ notice = '' }) => {
        if (notice !== '') notices.push(notice)
      }
    })
  const rows = () => sql<{ id: number; path: string }[]>`select id, path from media order by id`
  await writeFile(join(folder, `${nfc}.mp3`), aria)
  await run(folder)
  const [before] = await rows()
  await rm(join(folder, `${nfc}.mp3`))
  await writeFile(join(folder, `${nfd}.mp3`), aria)
  expect(await run(folder)).toMatchObject({ added: 0 })
  expect(await rows()).toEqual([{ id: before?.id, path: join(folder, `${nfd}.mp3`) }])
  expect(notices).toEqual([])

  await writeFile(join(folder, `${nfc}.mp3`), other)
  expect(await run(folder)).toMatchObject({ added: 1 })
  expect(await rows()).toHaveLength(2)
  expect(notices).toEqual([expect.stringContaining('Another song has this name')])

  await rm(join(folder, `${nfc}.mp3`))
  await writeFile(join(folder, 'list.m3u'), `#EXTM3U\n${mixed.normalize('NFC')}.mp3\n`)
  expect(await run(join(folder, 'list.m3u'))).toMatchObject({ found: 1, skipped: 0 })
})

test('playlist files and tables name songs in any form; exact paths and unique file names come first', async ({
  sql,
  redisUrl
}) => {
  const { ask, id, playlistId } = await serveUploads(sql, redisUrl)
  const paths = [`${nfd}/1.mp3`, `${nfc}/2.mp3`, `a/${mixed}.mp3`, `pair/${nfc}.ogg`, `pair/${nfd}.ogg`]
  for (const [index, path] of paths.entries())
    await sql`insert into media (station_id, unique_id, path, song_id, title, artist, duration_ms)
      values (${id}, ${`u${index}`}, ${path}, md5('x'), ${`T${index}`}, '', 1000)`
  const lines = [`${nfc}/1.mp3`, `${mixed}/2.mp3`, `C/${nfc}.mp3`, `pair/${nfd}.ogg`]
  const body = `#EXTM3U\n${lines.join('\n')}\n`
  const imported = await ask('POST', `/playlist/${playlistId}/import`, {
    body,
    headers: { 'Content-Type': 'audio/x-mpegurl' }
  })
  expect(imported.status).toBe(200)
  const tracks = await sql<
    { path: string }[]
  >`select m.path from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} order by t.position`
  expect(tracks.map(({ path }) => path)).toEqual([paths[0], paths[1], paths[2], paths[4]])

  await sql`update playlists set name = ${nfc} where id = ${playlistId}`
  const table = `path,title,playlists\n${nfc}/1.mp3,New,${nfd}\n`
  const changed = await ask('POST', '/files/bulk', { body: table, headers: { 'Content-Type': 'text/csv' } })
  expect(changed.body.import_results).toMatchObject([{ success: true }])
  expect(await sql`select title from media where path = ${`${nfd}/1.mp3`}`).toMatchObject([{ title: 'New' }])
})

test('songs in another form are found by an index', async ({ sql }) => {
  const stationId = (await insertStation(sql, { shortName: 'harbour', name: 'Harbour FM' })) ?? 0
  await sql`insert into media (station_id, unique_id, path, song_id, title, artist, duration_ms)
    select ${stationId}, 'u' || n, 'folder/' || n || '.mp3', md5('x'), 'T', 'A', 1000 from generate_series(1, 2000) n`
  const long = `${'\u0958'.repeat(600)}.mp3`
  await sql`insert into media (station_id, unique_id, path, song_id, title, artist, duration_ms) values
    (${stationId}, 'v', ${`${nfd}/a.mp3`}, md5('x'), 'T', 'A', 1000), (${stationId}, 'w', ${long}, md5('x'), 'T', 'A', 1000)`
  await sql`analyze media`
  const found = await findStoredSongs(sql, stationId, [`${nfc}/a.mp3`, long.normalize('NFC'), 'none'])
  expect([...found.values()].map(({ path }) => path)).toEqual([`${nfd}/a.mp3`, long])
  const plan = await sql<{ 'QUERY PLAN': string }[]>`
    explain select id from media m where m.station_id = ${stationId} and m.remote_playlist_id is null
      and name_key(m.path) <> m.path and name_key(m.path) = name_key(${`${nfc}/a.mp3`})
      and left(name_key(m.path), 600) collate "C" = left(name_key(${`${nfc}/a.mp3`}), 600) collate "C"`
  expect(plan.map(line => line['QUERY PLAN']).join('\n')).toContain('media_by_name_key')
})
