import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { seedStations } from '../support/stations.ts'

const address = 'http://192.0.2.10:8000/T0KEN-in-path/radio?token=T0KEN-in-query'

test('addresses that may contain a token are redacted for keys that cannot write them', async ({
  program
}) => {
  const { ask, sql } = program
  const { id, playlistId } = await sql.begin(async tx => {
    const [station] = await seedStations(tx)
    if (!station) throw new Error('no station was made')
    await tx`update playlists set source = 'remote_url', remote_url = ${address} where id = ${station.playlistId}`
    await tx`update hls_streams set relay_url = ${address} where station_id = ${station.id}`
    await tx`update stations set frontend = 'icecast', frontend_url = ${address} where id = ${station.id}`
    await tx`update media set path = ${address} where id = (select min(id) from media where station_id = ${station.id})`
    await tx`insert into polls (station_id) values (${station.id})`
    return station
  })
  const keyWith = async (permissions: readonly string[]) =>
    (await ask('POST', '/api/v1/main/api-keys', { body: { name: 'made', permissions } })).body.key
  const read = async (path: string, permissions: readonly string[]) => {
    const response = await ask('GET', path, { key: await keyWith(permissions) })
    expect([path, response.status]).toEqual([path, 200])
    return JSON.stringify(response.body)
  }

  const station = `/api/station/${id}`
  for (const [path, setter] of [
    [`${station}/playlists`, 'manage station media'],
    [`${station}/playlist/${playlistId}`, 'manage station media'],
    [`${station}/files`, 'manage station media'],
    [`${station}/playlist/${playlistId}/order`, 'manage station media'],
    [`${station}/playlist/${playlistId}/export/m3u`, 'manage station media'],
    [`${station}/hls_streams`, 'manage station mounts'],
    [`/api/admin/station/${id}`, 'administer stations']
  ] as const) {
    const ofViewer = await read(path, ['view all'])
    expect([path, ofViewer.includes('T0KEN')]).toEqual([path, false])
    expect(ofViewer).toContain('http://192.0.2.10:8000/…')
    expect(await read(path, [setter, 'view station management'])).toContain(address)
  }
  expect(await read(`${station}/polls`, ['view all'])).toContain('"url":"http://192.0.2.10:8000/"')
  for (const list of ['polls', 'files'])
    expect(await read(`${station}/${list}?searchPhrase=T0KEN`, ['view all'])).toBe('[]')
  expect(
    await read(`${station}/files?searchPhrase=T0KEN`, ['manage station media', 'view station management'])
  ).toContain(address)
})
