import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { importMedia } from '../../src/commands/import/import.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test as base } from '../support/fixtures.ts'
import { adminKey, type JsonBody } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const list = ['jingle', 'a', 'jingle', 'b', 'jingle', 'jingle']

/** A station with a sequential list that plays a jingle between its songs, and requests to its paths. */
const test = base.extend('station', async ({ program }) => {
  const { body: made } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Jingle FM' } })
  const id = Number(made.id)
  const ask = (method: string, path: string, body?: unknown, key = adminKey) =>
    program.ask(method, `/api/station/${id}${path}`, { body, key })
  const addPlaylist = async (name: string, order = 'sequential'): Promise<number> =>
    (await ask('POST', '/playlists', { name, order })).body.id
  const songs = new Map<string, number>()
  for (const title of ['jingle', 'a', 'b', 'c']) {
    const { body } = await ask('POST', '/files', {
      path: `music/${title}.mp3`,
      artist: title,
      title,
      length: 60
    })
    songs.set(title, body.id)
  }
  const idOf = (title: string) => songs.get(title) ?? 0
  const importList = async (playlist: number, paths: readonly string[]): Promise<JsonBody> => {
    const response = await fetch(`${program.baseUrl}/api/station/${id}/playlist/${playlist}/import`, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey, 'Content-Type': 'audio/x-mpegurl' },
      body: `#EXTM3U\n${paths.join('\n')}\n`
    })
    return response.json()
  }
  const entries = async (playlist: number): Promise<JsonBody[]> =>
    (await ask('GET', `/playlist/${playlist}/order`)).body
  const titles = async (playlist: number) => (await entries(playlist)).map(({ title }) => String(title))
  const playlist = await addPlaylist('Rotation')
  const message: string = (
    await importList(
      playlist,
      list.map(title => `music/${title}.mp3`)
    )
  ).message
  return { id, playlist, message, ask, addPlaylist, idOf, importList, entries, titles }
})

describe('a song that is repeated in a playlist', () => {
  test('is imported, listed and counted as often as the file names it, once more if it does', async ({
    station
  }) => {
    const { playlist, message, importList, entries, titles } = station
    expect(message).toBe('6 of 6 entries are songs of the library.')
    expect(await titles(playlist)).toEqual(list)
    const listed = await entries(playlist)
    expect(listed.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6])
    expect(new Set(listed.map(({ spm_id: id }) => id)).size).toBe(6)
    const again = ['jingle', 'c', 'a', 'jingle', 'a'].map(title => `music/${title}.mp3`)
    await importList(playlist, again)
    await importList(playlist, again)
    expect(await titles(playlist)).toEqual([...list, 'c', 'a'])
  })

  test.for(['m3u', 'pls'])(
    'is in an exported %s, which is imported again',
    async (format, { program, station }) => {
      const { id, playlist, addPlaylist, titles } = station
      const at = `${program.baseUrl}/api/station/${id}/playlist`
      const headers = { 'X-API-Key': adminKey, 'Content-Type': 'text/plain' }
      const body = await (await fetch(`${at}/${playlist}/export/${format}`, { headers })).text()
      const other = await addPlaylist('Other')
      await fetch(`${at}/${other}/import`, { method: 'POST', headers, body })
      expect(await titles(other)).toEqual(list)
    }
  )

  test('is reordered, in any number, but not more often than it is there', async ({ station }) => {
    const { playlist, ask, idOf, titles } = station
    const order = async (wanted: readonly string[]) =>
      ask('PUT', `/playlist/${playlist}/order`, { order: wanted.map(idOf) })
    const moved = ['a', 'jingle', 'jingle', 'jingle', 'b', 'jingle']
    expect((await order(moved)).status).toBe(200)
    expect(await titles(playlist)).toEqual(moved)
    await order(['b', 'jingle'])
    expect(await titles(playlist)).toEqual(['b', 'jingle', 'a', 'jingle', 'jingle', 'jingle'])
    const refused = await order(['a', 'a', 'c'])
    expect(refused.body.extra_data.errors).toMatchObject([
      { field: 'order.1', code: 'duplicate' },
      { field: 'order.2', code: 'not_found' }
    ])
  })

  test('is added again and removed, one entry at a time', async ({ station }) => {
    const { playlist, ask, idOf, entries, titles } = station
    const add = (body: object) => ask('POST', `/playlist/${playlist}/entries`, body)
    expect((await add({ media_id: idOf('a'), position: 1 })).status).toBe(200)
    await add({ media_id: idOf('c') })
    expect(await titles(playlist)).toEqual(['a', ...list, 'c'])
    const remove = async (index: number) =>
      ask('DELETE', `/playlist/${playlist}/entry/${(await entries(playlist))[index]?.['spm_id']}`)
    // The first of four, then the others.
    for (const left of [
      ['a', 'a', 'jingle', 'b', 'jingle', 'jingle', 'c'],
      ['a', 'a', 'b', 'jingle', 'jingle', 'c'],
      ['a', 'a', 'b', 'jingle', 'c'],
      ['a', 'a', 'b', 'c']
    ]) {
      expect((await remove((await titles(playlist)).indexOf('jingle'))).status).toBe(200)
      expect(await titles(playlist)).toEqual(left)
    }
    expect((await ask('GET', `/file/${idOf('jingle')}`)).body.playlists).toEqual([])
    expect((await ask('DELETE', `/playlist/${playlist}/entry/999999999`)).status).toBe(404)
    const unknown = await add({ media_id: 999_999_999 })
    expect(unknown.body.extra_data.errors).toMatchObject([{ field: 'media_id', code: 'not_found' }])
    const { body: remote } = await ask('POST', '/playlists', {
      name: 'Remote',
      source: 'remote_url',
      remote_url: 'https://example.com/stream'
    })
    const elsewhere = await ask('POST', `/playlist/${remote.id}/entries`, { media_id: idOf('a') })
    expect(elsewhere.status).toBe(409)
  })

  test('is in copies of the playlist and of the station', async ({ program, station }) => {
    const { playlist, ask, titles } = station
    await ask('POST', `/playlist/${playlist}/clone`, { name: 'Copy', clone: ['media'] })
    await ask('PUT', `/playlist/${playlist}/apply-to`, { directories: ['music'], copyPlaylist: true })
    const { body: copies } = await ask('GET', '/playlists')
    const named = (name: string) => copies.find((each: JsonBody) => each['name'] === name)?.id
    expect(await titles(named('Copy'))).toEqual(list)
    const seeded = await seedStation(program.sql, { tracks: 2 })
    const ofSeeded = async (path: string, of = seeded) =>
      (await program.ask('GET', `/api/station/${of}/${path}`)).body
    const [original] = await ofSeeded('playlists')
    const [first] = await ofSeeded('files')
    const body = { media_id: first.id }
    await program.ask('POST', `/api/station/${seeded}/playlist/${original.id}/entries`, { body })
    const before = (await ofSeeded(`playlist/${original.id}/order`)).map(({ title }: JsonBody) => title)
    expect(before).toHaveLength(3)
    const { body: copy } = await program.ask('POST', `/api/admin/station/${seeded}/clone`, {
      body: { name: 'C', clone: ['media_storage', 'playlists'] }
    })
    const [playlistOfCopy] = await ofSeeded('playlists', copy.id)
    const after = await ofSeeded(`playlist/${playlistOfCopy.id}/order`, copy.id)
    expect(after.map(({ title }: JsonBody) => title)).toEqual(before)
  })

  test('is added once by a folder, keeps its entries with one, and leaves with all of them', async ({
    station
  }) => {
    const { playlist, ask, addPlaylist, idOf, entries, titles } = station
    await ask('PUT', `/playlist/${playlist}/apply-to`, { directories: ['music'] })
    expect(await titles(playlist)).toEqual([...list, 'c'])
    const removeLast = async () =>
      ask('DELETE', `/playlist/${playlist}/entry/${(await entries(playlist)).at(-1)?.['spm_id']}`)
    const kept = await removeLast()
    expect(kept.status).toBe(409)
    expect(kept.body.message).toBe('The playlist has the song because of its folder.')
    await ask('POST', `/playlist/${playlist}/entries`, { media_id: idOf('c') })
    expect((await removeLast()).status).toBe(200)
    const { body: folders } = await ask('GET', `/playlist/${playlist}/folders`)
    await ask('DELETE', `/playlist/${playlist}/folder/${folders[0].id}`)
    expect(await titles(playlist)).toEqual([...list, 'c'])

    const other = await addPlaylist('Other')
    await ask('PUT', '/files/batch', { do: 'add', files: ['music/jingle.mp3'], playlists: [playlist, other] })
    await ask('PUT', `/file/${idOf('jingle')}`, { playlists: [playlist, other], title: 'jingle' })
    expect(await titles(playlist)).toEqual([...list, 'c'])
    await ask('PUT', `/file/${idOf('jingle')}`, { playlists: [other] })
    expect(await titles(playlist)).toEqual(['a', 'b', 'c'])
    await ask('DELETE', `/playlist/${playlist}/empty`)
    expect(await titles(playlist)).toEqual([])
  })

  test('is one row of the table of songs, with the name of the playlist once', async ({
    program,
    station
  }) => {
    const { id, titles, playlist } = station
    const send = async (path: string, init: RequestInit = {}) =>
      fetch(`${program.baseUrl}/api/station/${id}/files/bulk${path}`, {
        headers: { 'X-API-Key': adminKey },
        ...init
      })
    const table = await (await send('')).text()
    const row = table.split('\n').find(line => line.includes('music/jingle.mp3'))
    expect(row?.match(/Rotation/g)).toHaveLength(1)
    const upload = async (text: string) => {
      const form = new FormData()
      form.set('import_file', new File([text], 'songs.csv'))
      return (await send('', { method: 'POST', body: form })).status
    }
    expect(await upload(table)).toBe(200)
    expect(await titles(playlist)).toEqual(list)
    expect(await upload(table.replace(row ?? '', (row ?? '').replace('Rotation', '')))).toBe(200)
    expect(await titles(playlist)).toEqual(['a', 'b'])
  })

  test('is several entries for clients of AzuraCast, which reorder them by their ids', async ({
    program,
    station
  }) => {
    const { id, playlist, idOf, titles } = station
    const body = { name: 'Repeats', permissions: ['administer all'], dialect: 'azuracast' }
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', { body })
    const ask = (method: string, path: string, sent?: object) =>
      program.ask(method, `/api/station/${id}${path}`, { key: String(made.key), body: sent })
    expect((await ask('GET', `/playlist/${playlist}`)).body).toMatchObject({
      num_songs: 6,
      total_length: 360
    })
    const { body: file } = await ask('GET', `/file/${idOf('jingle')}`)
    expect(file.playlists).toMatchObject([{ id: playlist, count: 4 }])
    const { body: order } = await ask('GET', `/playlist/${playlist}/order`)
    expect(order.map(({ media }: JsonBody) => media.title)).toEqual(list)
    const ids = order.map((entry: JsonBody) => entry['id'])
    expect(ids.slice(0, 2)).toEqual([idOf('jingle'), idOf('a')])
    expect(new Set(ids).size).toBe(6)
    const wanted = Object.fromEntries([5, 3, 4, 1, 2, 0].map((from, to) => [String(ids[from]), to + 1]))
    expect((await ask('PUT', `/playlist/${playlist}/order`, { order: wanted })).body).toEqual(wanted)
    expect(await titles(playlist)).toEqual(['jingle', 'b', 'jingle', 'a', 'jingle', 'jingle'])
    expect((await ask('PUT', `/playlist/${playlist}/order`, { order: { '-999999999': 1 } })).status).toBe(400)
    await program.sql`delete from api_keys where id = ${made.api_key.id}`
  })

  test('plays as often and in the order of a sequential list, and once in a shuffled one', async ({
    program,
    station
  }) => {
    const { id, playlist, ask, idOf, entries } = station
    const preview = async (rows: number): Promise<string[]> =>
      waitFor(
        async () => {
          const { body } = await ask('GET', `/queue/preview?hours=1&rows=${rows}`)
          const titles: string[] = body.map(({ song }: JsonBody) => String(song.title))
          return titles.length >= rows && titles.slice(0, rows)
        },
        { deadlineMs: 10_000, what: 'the preview' }
      )
    await waitFor(async () => (await program.ask('GET', `/api/nowplaying/${id}`)).body.is_online === true, {
      deadlineMs: 10_000,
      what: 'the station to play'
    })
    const cycles = [...list, ...list, ...list]
    const planned = await preview(12)
    const from = cycles.findIndex((_, index) => planned.every((title, at) => title === cycles[index + at]))
    expect(from).toBeGreaterThanOrEqual(0)
    // An entry that is added or removed is in the queue of servers that know the library.
    const added = (await entries(playlist)).length
    await ask('POST', `/playlist/${playlist}/entries`, { media_id: idOf('c'), position: added })
    expect(await preview(14)).toContain('c')
    await ask('DELETE', `/playlist/${playlist}/entry/${(await entries(playlist))[added - 1]?.['spm_id']}`)
    expect(await preview(14)).not.toContain('c')
    await ask('PUT', `/playlist/${playlist}`, { order: 'shuffle' })
    await ask('PUT', `/playlist/${playlist}/reshuffle`)
    const { body: rest } = await ask('GET', `/playlist/${playlist}/queue`)
    expect(rest.map(({ title }: JsonBody) => title).toSorted()).toEqual(['a', 'b', 'jingle'])
  })
})

/** The songs of all playlists in order. */
const titlesIn = async (sql: Sql) =>
  (
    await sql<{ title: string }[]>`
      select m.title from playlist_entries t join media m on m.id = t.media_id order by t.playlist_id, t.position, t.id`
  ).map(({ title }) => title)

describe('imports of files', () => {
  test('keep the repeats of each list, across batches, and add songs of folders once', async ({ sql }) => {
    const stationId = await seedStation(sql, { tracks: 0 })
    const folder = await scratchFolder()
    const names = Array.from({ length: 120 }, (_, index) => `song ${String(index).padStart(3, '0')}`)
    for (const name of ['jingle', ...names]) await writeFile(join(folder, `${name}.mp3`), mp3({ TIT2: name }))
    const wanted = names.flatMap(name => ['jingle', name])
    const file = join(folder, 'list.m3u')
    await writeFile(file, `#EXTM3U\n${wanted.map(name => `${name}.mp3`).join('\n')}\n`)
    const run = (...paths: string[]) => importMedia(sql, { stationId, playlistName: 'List', paths })
    expect(await run(file)).toMatchObject({ found: 240, added: 121, unchanged: 119, skipped: 0 })
    expect(await titlesIn(sql)).toEqual(wanted)
    await run(file, file, folder)
    expect(await titlesIn(sql)).toEqual(wanted)
  })
})
