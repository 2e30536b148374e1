import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { type JsonBody, type Program } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

/** A station with every kind of record that can be copied. */
async function openStation({ ask, sql }: Program) {
  const [seeded] = await seedStations(sql, { tracks: 3 })
  if (!seeded) throw new Error('no station was made')
  const { id, playlistId } = seeded
  await waitFor(async () => (await ask('GET', `/api/station/${id}`)).status === 200, {
    deadlineMs: 10_000,
    what: 'the station'
  })
  const add = async (path: string, body: object) => {
    const response = await ask('POST', `/api/station/${id}/${path}`, { body })
    if (response.status !== 200) throw new Error(JSON.stringify(response.body))
    return response.body
  }
  await ask('PUT', `/api/admin/station/${id}`, {
    body: {
      crossfade: 3.5,
      source_password: 'secret',
      frontend_url: 'http://127.0.0.1:9',
      timezone: 'Europe/Berlin'
    }
  })
  await ask('PUT', `/api/station/${id}/playlist/${playlistId}`, {
    body: { schedule_items: [{ start_time: 900, end_time: 1000, days: [1] }] }
  })
  await add('playlists', {
    name: 'Stream',
    source: 'remote_url',
    remote_type: 'stream',
    remote_url: 'https://example.com/live.mp3'
  })
  await add('hls_streams', { name: '/low.mp3', autodj_bitrate: 64 })
  await add('remotes', { name: 'Oslo', url: 'https://relay.example.com/main.mp3' })
  await add('streamers', { streamer_username: 'dj', streamer_password: 'a long password' })
  await add('webhooks', {
    name: 'Hook',
    type: 'generic',
    triggers: ['song_changed'],
    config: [{ key: 'webhook_url', value: 'https://example.com/hook' }]
  })
  const role = await ask('POST', '/api/admin/roles', {
    body: {
      name: `Role ${id}`,
      permissions: { global: [], station: [{ id, permissions: ['view station reports'] }] }
    }
  })
  await sql`
    with location as (insert into storage_locations (type, adapter, path)
      values ('station_media', 'local', '/srv/music') returning id)
    update stations set media_storage_location_id = location.id from location where stations.id = ${id}`
  return { id, roleId: role.body.id }
}

const parts = [
  'media_storage',
  'recordings_storage',
  'podcasts_storage',
  'playlists',
  'mounts',
  'remotes',
  'streamers',
  'permissions',
  'webhooks'
]

describe('a copy of a station', () => {
  test('has the chosen parts, without passwords, and its songs in its playlists', async ({ program }) => {
    const { ask, sql } = program
    const { id, roleId } = await openStation(program)
    await sql`
      insert into playlist_folders (playlist_id, path) select id, 'Jazz' from playlists where station_id = ${id} and source = 'songs'`
    await sql`
      update playlist_tracks t set is_from_folder = true from media m
      where m.id = t.media_id and m.station_id = ${id} and m.title = 'Title 2'`
    const { status, body } = await ask('POST', `/api/admin/station/${id}/clone`, {
      body: { name: 'The copy', description: 'As well.', clone: parts }
    })
    expect(status).toBe(200)
    const copy: number = body.id
    const { body: station } = await ask('GET', `/api/admin/station/${copy}`)
    expect(station).toMatchObject({
      name: 'The copy',
      description: 'As well.',
      crossfade: 3.5,
      timezone: 'Europe/Berlin',
      frontend_url: ''
    })
    const [secret] = await sql`select source_password as password from stations where id = ${copy}`
    expect(secret).toEqual({ password: '' })
    const list = async (path: string, of = copy) => (await ask('GET', `/api/station/${of}/${path}`)).body
    const named = (rows: JsonBody, name: string) => rows.map((row: JsonBody) => row[name])
    const playlists = await list('playlists')
    expect(named(playlists, 'name').toSorted()).toEqual(['Rotation', 'Stream'])
    const rotation = playlists.find(({ name }: JsonBody) => name === 'Rotation')
    const order = await list(`playlist/${rotation.id}/order`)
    expect(named(order, 'title')).toEqual(['Title 1', 'Title 2', 'Title 3'])
    expect(await list(`playlist/${rotation.id}/folders`)).toEqual([{ id: expect.any(Number), path: 'Jazz' }])
    const fromFolder = await sql`
      select m.title from playlist_tracks t join media m on m.id = t.media_id
      where t.playlist_id = ${rotation.id} and t.is_from_folder`
    expect([...fromFolder]).toEqual([{ title: 'Title 2' }])
    const [own, others] = await Promise.all([list('files'), list('files', id)])
    expect(named(own, 'path').toSorted()).toEqual(named(others, 'path').toSorted())
    const ids = new Set(named(others, 'unique_id'))
    expect(named(own, 'unique_id').some((each: string) => ids.has(each))).toBe(false)
    const originals = await list('playlists', id)
    const original = originals.find(({ name }: JsonBody) => name === 'Rotation')
    const [item] = rotation.schedule_items
    expect(item).toEqual({ ...original.schedule_items[0], id: item.id })
    expect(item.id).not.toBe(original.schedule_items[0].id)
    expect(named(await list('hls_streams'), 'name')).toEqual(['/radio.mp3', '/low.mp3'])
    expect(named(await list('remotes'), 'name')).toEqual(['Oslo'])
    expect(named(await list('streamers'), 'streamer_username')).toEqual(['dj'])
    expect(await list('webhooks')).toEqual([expect.objectContaining({ name: 'Hook', is_enabled: false })])
    const { body: role } = await ask('GET', `/api/admin/role/${roleId}`)
    expect(role.permissions.station.map((each: JsonBody) => each.id)).toEqual([id, copy])
    // The remote stream has an entry of its own in the copy, so both play.
    const [entries] = await sql`
      select count(*) as entries from playlist_tracks t join playlists p on p.id = t.playlist_id
        join media m on m.id = t.media_id
      where p.station_id = ${copy} and m.station_id = ${copy} and m.remote_playlist_id = p.id`
    expect(entries).toEqual({ entries: 1 })
    await waitFor(async () => (await ask('GET', `/api/nowplaying/${copy}`)).body.is_online === true, {
      deadlineMs: 15_000,
      what: 'the copy to play'
    })
  })

  test('is empty without parts, and has a name of its own', async ({ program }) => {
    const { ask } = program
    const { id } = await openStation(program)
    const { body } = await ask('POST', `/api/admin/station/${id}/clone`, { body: {} })
    const { body: station } = await ask('GET', `/api/admin/station/${body.id}`)
    expect(station.name).toMatch(/^Station 1 - Copy$/)
    const counts = await Promise.all(
      ['playlists', 'files', 'hls_streams', 'remotes', 'streamers', 'webhooks'].map(
        async path => (await ask('GET', `/api/station/${body.id}/${path}`)).body.length
      )
    )
    expect(counts).toEqual([0, 0, 1, 0, 0, 0])
    const wrong = await ask('POST', `/api/admin/station/${id}/clone`, { body: { clone: ['history'] } })
    expect([wrong.status, wrong.body.extra_data.errors[0].field]).toEqual([400, 'clone.0'])
    expect((await ask('POST', '/api/admin/station/987654321/clone', { body: {} })).status).toBe(404)
    // Its files are in a folder of its own, which the copy cannot share.
    const [unshared] = await seedStations(program.sql, { tracks: 1 })
    const refused = await ask('POST', `/api/admin/station/${unshared?.id}/clone`, {
      body: { clone: ['media_storage'] }
    })
    expect([refused.status, refused.body.extra_data.errors[0].field]).toEqual([409, 'clone.media_storage'])
  })
})

test('storage locations are offered for the fields of a station', async ({ program }) => {
  const { body } = await program.ask('GET', '/api/admin/stations/storage-locations')
  expect(Object.keys(body)).toEqual([
    'media_storage_location',
    'recordings_storage_location',
    'podcasts_storage_location'
  ])
})

describe('relays', () => {
  test('a relay registers its streams with their listeners, and removes those that are gone', async ({
    program
  }) => {
    const { ask, sql } = program
    const { id } = await openStation(program)
    const { body: made } = await ask('POST', '/api/v1/main/api-keys', {
      body: {
        name: 'relay',
        station_permissions: [{ station: id, permissions: ['manage station broadcasting'] }]
      }
    })
    const { key } = made
    const { body: read } = await ask('GET', '/api/internal/relays', { key })
    expect(read).toEqual([
      expect.objectContaining({ id, type: 'icecast', port: 9, relay_pw: '', admin_pw: '' })
    ])
    const mounts = read[0].mounts.map(({ path }: JsonBody) => path)
    expect(mounts).toEqual(['/radio.mp3', '/low.mp3'])
    const body = {
      base_url: `http://relay-${id}.example.com`,
      name: 'Oslo',
      nowplaying: { [id]: { '/low.mp3': { listeners: { total: 5, unique: 4 } } } }
    }
    const register = () => ask('POST', '/api/internal/relays', { key, body })
    expect((await register()).status).toBe(200)
    const remotes = async () => (await ask('GET', `/api/nowplaying/${id}`)).body.station.remotes
    // Its first report may come before this server shows the new streams; it repeats it every few seconds.
    await waitFor(
      async () => {
        await register()
        return (await remotes()).some(({ listeners }: JsonBody) => listeners.total === 5)
      },
      { deadlineMs: 10_000, what: 'the listeners of the relay' }
    )
    const shown = (await remotes()).filter(({ name }: JsonBody) => name.endsWith('(Oslo)'))
    expect(shown).toEqual([
      expect.objectContaining({
        url: `http://relay-${id}.example.com:9/low.mp3`,
        listeners: { total: 5, unique: 4, current: 5 }
      }),
      expect.objectContaining({ url: `http://relay-${id}.example.com:9/radio.mp3` })
    ])
    const { body: relays } = await ask('GET', `/api/admin/relays/list?searchPhrase=relay-${id}`)
    expect(relays).toEqual([expect.objectContaining({ base_url: body.base_url, name: 'Oslo' })])
    const { body: streams } = await ask('GET', `/api/station/${id}/hls_streams`)
    const low = streams.find(({ name }: JsonBody) => name === '/low.mp3')
    await ask('DELETE', `/api/station/${id}/hls_stream/${low.id}`)
    await waitFor(
      async () => {
        await register()
        return (await remotes()).filter(({ name }: JsonBody) => name.endsWith('(Oslo)')).length === 1
      },
      { deadlineMs: 10_000, what: 'the removed stream' }
    )
    await sql`delete from relays where base_url = ${body.base_url}`
  })

  test('a key that controls no station cannot register, and the former address redirects', async ({
    program
  }) => {
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', { body: { name: 'none' } })
    const refused = await program.ask('POST', '/api/internal/relays', { key: made.key, body: { name: 'x' } })
    expect(refused.status).toBe(400)
    expect((await program.ask('GET', '/api/internal/relays', { key: made.key })).body).toEqual([])
    const former = await program.ask('POST', '/api/admin/relays', { body: {} })
    expect([former.status, former.headers.get('location')]).toEqual([
      307,
      expect.stringMatching(/\/api\/internal\/relays$/)
    ])
  })
})
