import { createHash } from 'node:crypto'

import { describe, expect } from 'vitest'

import { test as base } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { entriesOf, fetchStateOf, pathsOf } from '../support/remote-playlist.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const relay = 'https://relay.invalid/live?x=1'
const listUrl = 'https://lists.invalid/all.m3u'

/** A disabled station without songs, and functions that change its playlists over the API. */
const test = base.extend('station', async ({ program }) => {
  const id = await seedStation(program.sql, { tracks: 0 })
  await program.sql`update stations set is_enabled = false where id = ${id}`
  const path = `/api/station/${id}`
  const change = async (method: string, of: string, body?: object) => {
    const response = await program.ask(method, `${path}/${of}`, { body })
    expect([response.status, response.body]).toEqual([200, expect.anything()])
    return response.body
  }
  return {
    id,
    path,
    make: async (body: object): Promise<number> =>
      (await change('POST', 'playlists', { name: 'Relay', source: 'remote_url', ...body })).id,
    put: (playlistId: number, body: object) => change('PUT', `playlist/${playlistId}`, body),
    remove: (playlistId: number) => change('DELETE', `playlist/${playlistId}`),
    addSong: async (file: string, playlistId: number): Promise<number> =>
      (await change('POST', 'files', { path: file, playlists: [playlistId] })).id
  }
})

const mediaOf = ({ sql }: Program, stationId: number) =>
  sql<{ path: string; title: string }[]>`
    select path, title from media where station_id = ${stationId} order by path`

describe('a stream', () => {
  test.for(['stream', 'other'])('of type %s has one entry', async (type, { program, station }) => {
    const id = await station.make({ remote_type: type, remote_url: relay })
    expect(await entriesOf(program.sql, id)).toEqual([
      {
        trackId: expect.any(Number),
        mediaId: expect.any(Number),
        position: 1,
        lastPass: 0,
        path: relay,
        songId: createHash('md5').update(relay).digest('hex'),
        artist: '',
        title: 'Relay',
        durationMs: 0
      }
    ])
  })

  test('has the name of its playlist, and is replaced when its URL changes', async ({ program, station }) => {
    const id = await station.make({ remote_url: relay })
    const [first] = await entriesOf(program.sql, id)
    await station.put(id, { name: 'Night relay', weight: 7 })
    expect(await entriesOf(program.sql, id)).toEqual([{ ...first, title: 'Night relay' }])
    await station.put(id, { remote_type: 'other', is_enabled: false })
    expect(await entriesOf(program.sql, id)).toEqual([{ ...first, title: 'Night relay' }])
    await station.put(id, { remote_url: `${relay}&y=2` })
    expect(await mediaOf(program, station.id)).toEqual([{ path: `${relay}&y=2`, title: 'Night relay' }])
    const [second] = await entriesOf(program.sql, id)
    expect(second?.mediaId).not.toBe(first?.mediaId)
  })

  test('may have a URL that is too long for an index', async ({ program, station }) => {
    const long = `https://relay.invalid/${'\u{1F3B5}'.repeat(1_000)}`
    const id = await station.make({ remote_url: long })
    expect(await pathsOf(program.sql, id)).toEqual([long])
  })

  test('is deleted with its playlist', async ({ program, station }) => {
    const id = await station.make({ remote_url: relay })
    await station.remove(id)
    expect(await mediaOf(program, station.id)).toEqual([])
  })

  test('may be in two playlists and the library at once', async ({ program, station }) => {
    const ids = [await station.make({ remote_url: relay }), await station.make({ remote_url: relay })]
    const songs = await station.make({ source: 'songs' })
    await station.addSong(relay, songs)
    for (const id of ids) expect(await pathsOf(program.sql, id)).toEqual([relay])
    expect(await mediaOf(program, station.id)).toHaveLength(3)
  })
})

test('the queue of a station follows its source', async ({ program, station }) => {
  await program.sql`update stations set is_enabled = true where id = ${station.id}`
  const addresses = async () => {
    const { body } = await program.ask('GET', `${station.path}/queue`)
    return new Set(body.map((row: { autodj_custom_uri: string }) => row.autodj_custom_uri))
  }
  const id = await station.make({ remote_url: relay })
  await station.addSong('a.mp3', id)
  expect(await addresses()).toEqual(new Set([relay]))
  await station.put(id, { remote_url: `${relay}&y=2` })
  expect(await addresses()).toEqual(new Set([`${relay}&y=2`]))
  await station.put(id, { source: 'songs' })
  expect(await addresses()).toEqual(new Set(['']))
  await station.put(id, { source: 'remote_url' })
  expect(await addresses()).toEqual(new Set([`${relay}&y=2`]))
  await station.remove(id)
  expect(await addresses()).toEqual(new Set())
})

describe('the songs of a playlist', () => {
  test('are kept while its source is a URL, and return when it is not', async ({ program, station }) => {
    const id = await station.make({ source: 'songs', remote_url: relay })
    const song = await station.addSong('a.mp3', id)
    const tracks = () =>
      program.sql`select id, media_id, position from playlist_tracks where playlist_id = ${id} order by id`
    const before = await tracks()
    const exported = async () =>
      (await program.ask('GET', `${station.path}/playlist/${id}/export/m3u`)).body.split('\n')
    expect(before).toMatchObject([{ media_id: song }])
    const written = await exported()
    expect(written).toContain('a.mp3')

    await station.put(id, { source: 'remote_url' })
    expect(await tracks()).toMatchObject([...before, {}])
    expect(await pathsOf(program.sql, id)).toEqual([relay])
    expect(await exported()).toEqual(written)

    await station.put(id, { source: 'songs' })
    expect(await tracks()).toEqual(before)
    expect(await mediaOf(program, station.id)).toMatchObject([{ path: 'a.mp3' }])
  })
})

describe('a list', () => {
  test('is fetched as soon as it is saved, and a failure is stored', async ({ program, station }) => {
    await program.sql`update stations set is_enabled = true where id = ${station.id}`
    const id = await station.make({ remote_type: 'playlist', remote_url: listUrl })
    expect(await pathsOf(program.sql, id)).toEqual([])
    const state = await waitFor(
      async () => {
        const now = await fetchStateOf(program.sql, id)
        return now.problem !== '' && now
      },
      { deadlineMs: 20_000, what: 'the attempt' }
    )
    expect(state.problem).toMatch(/^The name of the server is not known \(E\w+\)\.$/)
    expect(state).toMatchObject({ fetchedAtMs: 0, failingSinceMs: expect.any(Number) })
  })

  test('with another URL is due at once, and its old entries are deleted', async ({ program, station }) => {
    const id = await station.make({ remote_type: 'playlist', remote_url: listUrl, is_enabled: false })
    const fetched = async () => {
      await program.sql`
        insert into media (station_id, unique_id, path, song_id, remote_playlist_id)
        values (${station.id}, ${`x${id}`}, 'https://cdn.invalid/a', md5('x'), ${id})`
      await program.sql`
        insert into playlist_tracks (playlist_id, media_id, position)
        select ${id}, id, 1 from media where remote_playlist_id = ${id}`
      await program.sql`
        update playlists set fetched_at_ms = 5, fetch_at_ms = 6, failing_since_ms = 7, fetch_problem = 'x'
        where id = ${id}`
    }
    await fetched()
    const stale = { fetchedAtMs: 5, fetchAtMs: 6, failingSinceMs: 7, problem: 'x' }
    await station.put(id, { name: 'Other', weight: 9 })
    expect(await fetchStateOf(program.sql, id)).toEqual(stale)
    expect(await pathsOf(program.sql, id)).toHaveLength(1)

    const fresh = { fetchedAtMs: 0, fetchAtMs: 0, failingSinceMs: null, problem: '' }
    await station.put(id, { remote_url: `${listUrl}?other` })
    expect(await fetchStateOf(program.sql, id)).toEqual(fresh)
    expect(await mediaOf(program, station.id)).toEqual([])

    await fetched()
    await station.put(id, { remote_type: 'stream' })
    expect(await fetchStateOf(program.sql, id)).toEqual(fresh)
    expect(await pathsOf(program.sql, id)).toEqual([`${listUrl}?other`])

    await station.put(id, { remote_type: 'playlist' })
    expect(await pathsOf(program.sql, id)).toEqual([])
    await fetched()
    await station.put(id, { source: 'songs' })
    expect(await fetchStateOf(program.sql, id)).toEqual(fresh)
    expect(await mediaOf(program, station.id)).toEqual([])
  })
})
