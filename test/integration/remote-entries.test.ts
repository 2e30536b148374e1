import { describe, expect } from 'vitest'

import { noCuePoints } from '../../src/model/songs/cue-points.ts'
import { upsertMedia } from '../../src/stores/db/library/media-rows.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'

const address = 'https://radio.example.com/shows/monday.mp3'

/** A station with a song, and a fetched list with one entry, which is a track of its playlist. */
async function openStation(sql: Sql) {
  const [station = { id: 0, playlistId: 0 }] = await seedStations(sql, { tracks: 1 })
  const [playlist = { id: 0 }] = await sql<{ id: number }[]>`
    insert into playlists (station_id, name, source, remote_url, remote_type)
    values (${station.id}, 'Shows', 'remote_url', 'https://radio.example.com/shows.m3u', 'playlist') returning id`
  const [entry = { id: 0, unique_id: '' }] = await sql<{ id: number; unique_id: string }[]>`
    insert into media (station_id, unique_id, path, song_id, artist, title, remote_playlist_id)
    values (${station.id}, left(md5(${station.id}::text), 24), ${address}, md5('monday'), 'Remote', 'Monday', ${playlist.id})
    returning id, unique_id`
  await sql`
    insert into playlist_tracks (playlist_id, media_id, position)
    values (${playlist.id}, ${entry.id}, 1), (${station.playlistId}, ${entry.id}, 2)`
  return { ...station, remoteId: playlist.id, entry }
}

const ask = (program: Program, method: string, path: string, body?: unknown) =>
  program.ask(method, path, body === undefined ? {} : { body })

describe('an entry of a fetched list', () => {
  test('is not a file', async ({ program }) => {
    const { id, entry } = await openStation(program.sql)
    for (const query of ['', '?searchPhrase=Monday', '?per_page=1']) {
      const { body, headers } = await ask(program, 'GET', `/api/station/${id}/files${query}`)
      const rows = Array.isArray(body) ? body : body.rows
      expect(rows.map(({ title }: { title: string }) => title)).toEqual(
        query.includes('M') ? [] : ['Title 1']
      )
      expect(headers.get('x-total-count')).toBe(query.includes('M') ? '0' : '1')
    }
    const path = `/api/station/${id}/file/${entry.id}`
    expect((await ask(program, 'GET', path)).status).toBe(404)
    expect((await ask(program, 'PUT', path, { title: 'Mine' })).status).toBe(404)
    expect((await ask(program, 'DELETE', path)).status).toBe(404)
    const own = await ask(program, 'POST', `/api/station/${id}/files`, { path: address })
    expect(own.status).toBe(200)
    expect(own.body.id).not.toBe(entry.id)
  })

  test('cannot be queued manually', async ({ program }) => {
    const { id, entry } = await openStation(program.sql)
    const { status, body } = await ask(program, 'POST', `/api/station/${id}/queue`, { media_id: entry.id })
    expect([status, body.extra_data.errors]).toMatchObject([400, [{ field: 'media_id', code: 'not_found' }]])
  })

  test('is not matched by an imported list and not part of an exported one', async ({ program }) => {
    const { id, entry, playlistId, remoteId } = await openStation(program.sql)
    const lines = [address, 'monday.mp3', entry.id]
    const { body } = await ask(program, 'POST', `/api/station/${id}/playlist/${playlistId}/import`, lines)
    const [made] = await program.sql<{ id: number }[]>`
      select id from media where station_id = ${id} and path = ${address} and remote_playlist_id is null`
    expect(body.import_results.map(({ match }: { match: number | null }) => match)).toEqual([
      made?.id,
      null,
      null
    ])
    const own = await ask(program, 'GET', `/api/station/${id}/playlist/${playlistId}/export/m3u`)
    expect(own.body.split('\n').filter((line: string) => line === address)).toHaveLength(1)
    const remote = await ask(program, 'GET', `/api/station/${id}/playlist/${remoteId}/export/m3u`)
    expect(remote.body).not.toContain(address)
  })

  test('is unchanged when a song of the same path is imported', async ({ sql }) => {
    const { id, entry } = await openStation(sql)
    const before = await sql`select * from media where id = ${entry.id}`
    const tags = { artists: [], title: 'Own', album: '', genre: '', isrc: '', lyrics: '', durationMs: 0 }
    const song = {
      ...tags,
      path: address,
      tags: null,
      cues: noCuePoints,
      coverHash: null,
      sizeBytes: 0,
      modifiedMs: 0
    }
    const upsert = (artist: string) => sql.begin(tx => upsertMedia(tx, id, [{ ...song, artist }]))
    expect(await upsert('A')).toEqual({ added: 1, updated: 0, unchanged: 0, joined: 0 })
    expect(await upsert('B')).toEqual({ added: 0, updated: 1, unchanged: 0, joined: 0 })
    expect([...(await sql`select * from media where id = ${entry.id}`)]).toEqual([...before])
  })

  test('cannot be requested', async ({ program }) => {
    const { id, entry } = await openStation(program.sql)
    const list = () => ask(program, 'GET', `/api/station/${id}/requests`)
    await expect.poll(async () => (await list()).status, { timeout: 5_000 }).toBe(200)
    expect((await list()).body.map((row: { song: { title: string } }) => row.song.title)).toEqual(['Title 1'])
    for (const [index, name] of [entry.id, entry.unique_id].entries()) {
      const response = await program.ask('POST', `/api/station/${id}/request/${name}`, {
        from: `192.0.2.${index}`
      })
      expect(response.status).toBe(404)
    }
  })
})
