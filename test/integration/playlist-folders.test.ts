import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { importMedia } from '../../src/commands/import/import.ts'
import { lockImports } from '../../src/stores/db/library/media-rows.ts'
import {
  syncFolderSongs,
  assignFoldersToPlaylistId,
  maxFoldersOfPlaylist
} from '../../src/stores/db/library/playlist-folders.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test as base } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'

/** A station with a sequential playlist, and requests to its paths. */
const test = base.extend('station', async ({ program }) => {
  const { body: made } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Harbour FM' } })
  const id = Number(made.id)
  const ask = (method: string, path: string, body?: unknown) =>
    program.ask(method, `/api/station/${id}${path}`, { body })
  const addSong = async (path: string, playlists: readonly number[] = []): Promise<number> => {
    const { body } = await ask('POST', '/files', { path, artist: 'A', title: path, length: 60, playlists })
    return body.id
  }
  const addPlaylist = async (name: string): Promise<number> =>
    (await ask('POST', '/playlists', { name, order: 'sequential' })).body.id
  const songs = async (playlist: number): Promise<string[]> =>
    (await ask('GET', `/playlist/${playlist}/order`)).body.map(({ path }: { path: string }) => path)
  const folders = async (playlist: number): Promise<string[]> =>
    (await ask('GET', `/playlist/${playlist}/folders`)).body.map(({ path }: { path: string }) => path)
  const assign = (playlist: number, ...directories: string[]) =>
    ask('PUT', `/playlist/${playlist}/apply-to`, { directories })
  const playlist = await addPlaylist('Rotation')
  return { id, playlist, ask, addSong, addPlaylist, songs, folders, assign }
})

test('songs that arrive in a folder of a playlist are in it until they or the folder leave', async ({
  program,
  station
}) => {
  const { ask, addSong, songs, folders, assign, playlist } = station
  await addSong('Jazz/by hand.mp3', [playlist])
  await addSong('Jazz/a.mp3')
  expect(await assign(playlist, 'Jaz')).toMatchObject({
    status: 400,
    body: { message: 'directories.0 is not a folder of the library.' }
  })
  expect(await assign(playlist, '/Jazz/')).toMatchObject({ status: 200 })
  const moved = await addSong('Jazz/Cool/b.mp3')
  await addSong('Jazzy/c.mp3')
  const all = ['Jazz/by hand.mp3', 'Jazz/a.mp3', 'Jazz/Cool/b.mp3']
  expect(await songs(playlist)).toEqual(all)
  const [queued] = await program.sql`
    select count(*) > 0 as found from queue q join media m on m.id = q.media_id
    where q.station_id = ${station.id} and m.path = 'Jazz/Cool/b.mp3'`
  expect(queued).toEqual({ found: true })

  // The folder within is assigned as well, so its songs need neither alone.
  expect(await assign(playlist, 'Jazz/Cool')).toMatchObject({ status: 200 })
  const { body: assigned } = await ask('GET', `/playlist/${playlist}/folders`)
  expect(assigned.map(({ path }: { path: string }) => path)).toEqual(['Jazz', 'Jazz/Cool'])
  const remove = (path: string) => {
    const id = assigned.find((each: { path: string }) => each.path === path)?.id
    return ask('DELETE', `/playlist/${playlist}/folder/${id}`)
  }
  expect(await remove('Jazz')).toMatchObject({ status: 200 })
  expect(await songs(playlist)).toEqual(['Jazz/by hand.mp3', 'Jazz/Cool/b.mp3'])
  expect(await remove('Jazz')).toMatchObject({ status: 404 })

  expect(await ask('PUT', `/file/${moved}`, { path: 'Rock/b.mp3' })).toMatchObject({ status: 200 })
  expect(await songs(playlist)).toEqual(['Jazz/by hand.mp3'])
  expect(await ask('PUT', '/files/rename', { file: 'Rock/b.mp3', newPath: 'Jazz/Cool/b.mp3' })).toMatchObject(
    { status: 200 }
  )
  expect(await songs(playlist)).toEqual(['Jazz/by hand.mp3', 'Jazz/Cool/b.mp3'])
  expect(await folders(playlist)).toEqual(['Jazz/Cool'])
  const [waiting] = await program.sql`
    select count(*) as tracks from queue q join media m on m.id = q.media_id
    where q.station_id = ${station.id} and m.path = 'Jazz/a.mp3' and q.played_at_ms is null`
  expect(waiting).toEqual({ tracks: 0 })
})

test('a song stays in the playlists of its folder, and those by hand remain without it', async ({
  program,
  station
}) => {
  const { ask, addSong, addPlaylist, songs, assign, playlist } = station
  const night = await addPlaylist('Night')
  const song = await addSong('Jazz/a.mp3')
  await assign(playlist, 'Jazz')
  const sent = { playlists: [night] }
  const refused = await ask('PUT', `/file/${song}`, sent)
  expect(refused.body).toMatchObject({
    code: 409,
    message: `playlists must contain ${playlist}: the playlist "Rotation" has the song because of its folder.`
  })
  expect(await songs(night)).toEqual([])
  const { body: created } = await program.ask('POST', '/api/v1/main/api-keys', {
    body: { name: 'Folders', permissions: ['administer all'], dialect: 'azuracast' }
  })
  // Other files share the program.
  onTestFinished(async () => void (await program.sql`delete from api_keys where name = 'Folders'`))
  const inDialect = (method: string, path: string, body?: object) =>
    program.ask(method, `/api/station/${station.id}${path}`, { key: created.key, body })
  expect(await inDialect('PUT', `/file/${song}`, sent)).toMatchObject({ status: 200 })
  const named = (id: number, name: string, folder: string | null) => ({
    id,
    name,
    short_name: name.toLowerCase(),
    folder,
    count: 1
  })
  const { body: file } = await inDialect('GET', `/file/${song}`)
  expect(file.playlists).toEqual([named(playlist, 'Rotation', 'Jazz'), named(night, 'Night', null)])
  await addSong('Jazz/Cool/b.mp3')
  const { body: list } = await inDialect('GET', '/files/list?currentDirectory=Jazz')
  expect(list[0]).toMatchObject({
    path: 'Jazz/Cool',
    dir: { playlists: [named(playlist, 'Rotation', 'Jazz')] }
  })
  const { body: top } = await ask('GET', '/files/list')
  expect(top.rows[0]).toMatchObject({ path: 'Jazz', dir: { playlists: [playlist] } })

  // Added by hand as well, it remains.
  await ask('PUT', '/files/batch', { do: 'add', files: ['Jazz/a.mp3'], playlists: [playlist] })
  expect(await ask('DELETE', `/playlist/${playlist}/empty`)).toMatchObject({
    body: { message: 'Playlist emptied, except for the songs of its folders.' }
  })
  expect((await songs(playlist)).toSorted()).toEqual(['Jazz/Cool/b.mp3', 'Jazz/a.mp3'])
  await ask('POST', `/playlist/${playlist}/clone`, { name: 'Copy', clone: ['media'] })
  const { body: playlists } = await ask('GET', '/playlists')
  const copy = playlists.find(({ name }: { name: string }) => name === 'Copy').id
  expect((await songs(copy)).toSorted()).toEqual(['Jazz/Cool/b.mp3', 'Jazz/a.mp3'])
  await ask('PUT', '/files/batch', { do: 'add', files: ['Jazz/a.mp3'], playlists: [playlist] })
  const [folder] = (await ask('GET', `/playlist/${playlist}/folders`)).body
  await ask('DELETE', `/playlist/${playlist}/folder/${folder.id}`)
  expect(await songs(playlist)).toEqual(['Jazz/a.mp3'])
  await addSong('Jazz/c.mp3')
  expect(await songs(copy)).toHaveLength(3)
})

test('folders are assigned with others, renamed, moved and deleted with their playlists', async ({
  station
}) => {
  const { ask, addSong, addPlaylist, songs, folders, assign, playlist } = station
  const night = await addPlaylist('Night')
  for (const path of ['Jazz/a.mp3', 'Jazz/Cool/b.mp3', 'Rock/c.mp3']) await addSong(path)
  await assign(playlist, 'Jazz', 'Jazz/Cool')
  const batch = (body: object) => ask('PUT', '/files/batch', body)
  const set = { do: 'playlist', dirs: ['Jazz', 'None'], files: ['Rock/c.mp3'], playlists: [night] }
  expect((await batch(set)).body).toMatchObject({
    success: false,
    files: ['Rock/c.mp3'],
    directories: ['Jazz'],
    errors: ['None: Record not found.']
  })
  expect([await folders(playlist), await songs(playlist)]).toEqual([['Jazz/Cool'], ['Jazz/Cool/b.mp3']])
  expect([await folders(night), await songs(night)]).toEqual([
    ['Jazz'],
    ['Rock/c.mp3', 'Jazz/Cool/b.mp3', 'Jazz/a.mp3']
  ])
  expect(await batch({ ...set, dirs: [''] })).toMatchObject({ status: 400 })

  expect(await ask('PUT', '/files/rename', { file: 'Jazz', newPath: 'Swing' })).toMatchObject({ status: 200 })
  expect([await folders(playlist), await folders(night)]).toEqual([['Swing/Cool'], ['Swing']])
  expect(await songs(night)).toEqual(['Rock/c.mp3', 'Swing/Cool/b.mp3', 'Swing/a.mp3'])
  await batch({ do: 'move', dirs: ['Swing/Cool'], directory: 'Old' })
  expect([await folders(playlist), await songs(playlist)]).toEqual([['Old/Cool'], ['Old/Cool/b.mp3']])
  expect([await folders(night), await songs(night)]).toEqual([['Swing'], ['Rock/c.mp3', 'Swing/a.mp3']])
  await batch({ do: 'delete', files: ['Swing/a.mp3'], dirs: ['Old'] })
  // A folder whose songs were deleted one by one remains, and is deleted with itself.
  expect([await folders(playlist), await folders(night)]).toEqual([[], ['Swing']])
  await addSong('Swing/d.mp3')
  expect(await songs(night)).toEqual(['Rock/c.mp3', 'Swing/d.mp3'])
})

test('imported songs are in the playlists of their folder below the storage location', async ({ sql }) => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'Jazz'))
  for (const name of ['Jazz/a', 'Jazz/b', 'c'])
    await writeFile(join(folder, `${name}.mp3`), mp3({ TIT2: name }))
  const [{ id, playlistId } = { id: 0, playlistId: 0 }] = await seedStations(sql, { tracks: 0 })
  await sql`
    with location as (insert into storage_locations (type, adapter, path)
      values ('station_media', 'local', ${`${folder}/`}) returning id)
    update stations set media_storage_location_id = location.id from location where stations.id = ${id}`
  const place = { stationId: id, playlistId }
  await sql.begin(tx => assignFoldersToPlaylistId(tx, place, ['Jazz']))
  const run = () => importMedia(sql, { stationId: id, playlistName: 'Imported', paths: [folder] })
  await run()
  const tracks = () => sql<{ path: string; position: number }[]>`
    select replace(m.path, ${`${folder}/`}, '') as path, t.position from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} order by t.position`
  const both = [
    { path: 'Jazz/a.mp3', position: 1 },
    { path: 'Jazz/b.mp3', position: 2 }
  ]
  expect([...(await tracks())]).toEqual(both)
  // As an absolute path, too, and nothing changes when it is applied again.
  await sql.begin(async tx => {
    await tx`delete from playlist_folders`
    expect(await assignFoldersToPlaylistId(tx, place, [`${folder}/Jazz`])).toEqual({ added: 0, removed: 0 })
    expect(await syncFolderSongs(tx, place)).toEqual({ added: 0, removed: 0 })
  })
  await run()
  expect([...(await tracks())]).toEqual(both)
})

test('a song that is imported while its folder is assigned is in the playlist', async ({
  program,
  station
}) => {
  const { id, playlist, addSong, assign, songs } = station
  await addSong('Jazz/a.mp3')
  const { assigned } = await program.sql.begin(async tx => {
    await lockImports(tx, id)
    const media = { station_id: id, unique_id: `folder-${id}`, path: 'Jazz/b.mp3', song_id: '0'.repeat(32) }
    const [song] = await tx<{ id: number }[]>`insert into media ${tx(media)} returning id`
    expect(await syncFolderSongs(tx, { stationId: id, mediaIds: [song?.id ?? 0] })).toMatchObject({
      added: 0
    })
    const assigning = assign(playlist, 'Jazz')
    await expect
      .poll(() => program.sql`select from pg_locks where locktype = 'advisory' and not granted`, {
        timeout: 3_000
      })
      .not.toHaveLength(0)
    return { assigned: assigning }
  })
  expect(await assigned).toMatchObject({ status: 200 })
  expect(await songs(playlist)).toEqual(['Jazz/a.mp3', 'Jazz/b.mp3'])
})

test('a playlist has a limited number of folders', async ({ program, station }) => {
  const { playlist, assign, addSong, folders } = station
  await addSong('Jazz/a.mp3')
  await program.sql`
    insert into playlist_folders (playlist_id, path)
    select ${playlist}, 'x' || n from generate_series(1, ${maxFoldersOfPlaylist}) n`
  expect(await assign(playlist, 'Jazz')).toMatchObject({
    status: 400,
    body: { message: `directories must leave the playlist with at most ${maxFoldersOfPlaylist} folders.` }
  })
  expect(await folders(playlist)).toHaveLength(maxFoldersOfPlaylist)
})
