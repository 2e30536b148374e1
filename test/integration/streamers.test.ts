import { createHash } from 'node:crypto'

import { describe, expect } from 'vitest'

import { test as base } from '../support/fixtures.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

/** A new station that the server shows. */
const test = base.extend('station', async ({ program }) => {
  const made = await program.ask('POST', '/api/admin/stations', { body: { name: 'Harbour FM' } })
  const { id, short_name: shortName } = made.body
  const addStreamer = async (body: Record<string, unknown>): Promise<JsonBody> => {
    const response = await program.ask('POST', `/api/station/${id}/streamers`, { body })
    expect(response.status).toBe(200)
    return response.body
  }
  return { id: Number(id), shortName: String(shortName), addStreamer }
})

async function countRows({ sql }: Program, stationId: number) {
  const [row] = await sql<{ streamers: number; broadcasts: number }[]>`
    select (select count(*) from streamers where station_id = ${stationId}) as streamers,
      (select count(*) from broadcasts where station_id = ${stationId}) as broadcasts`
  return row
}

describe('a streamer', () => {
  test('has a unique name on the station, and a password hash that is never returned', async ({
    program,
    station
  }) => {
    const body = { streamer_username: 'wren', streamer_password: 'correct horse' }
    const { id } = await station.addStreamer(body)
    const path = `/api/station/${station.id}/streamer/${id}`
    const kept = async () => {
      const [row] = await program.sql<{ hash: string }[]>`
        select streamer_password as hash from streamers where id = ${id}`
      return row?.hash ?? ''
    }
    const hash = await kept()
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const shown = await Promise.all([
      program.ask('GET', path),
      program.ask('GET', `/api/station/${station.id}/streamers`),
      program.ask('PUT', path, { body: { streamer_password: '' } }),
      program.ask('POST', `/api/station/${station.id}/streamers`, { body }),
      program.ask('GET', '/api/admin/auditlog?per_page=50')
    ])
    expect(shown.map(({ status }) => status)).toEqual([200, 200, 200, 409, 200])
    expect(JSON.stringify(shown.map(response => response.body))).not.toMatch(/correct horse|argon2/)
    expect(await kept()).toBe(hash)
    await program.ask('PUT', path, { body: { streamer_password: null } })
    expect(await kept()).toBe('')
    const other = await program.ask('POST', '/api/admin/stations', { body: { name: 'Other' } })
    const again = await program.ask('POST', `/api/station/${other.body.id}/streamers`, { body })
    expect(again.status).toBe(200)
  })

  test('keeps the ids of schedule items that are sent again', async ({ program, station }) => {
    const evening = { start_time: 1800, end_time: 2000 }
    const { id, schedule_items: items } = await station.addStreamer({
      streamer_username: 'wren',
      schedule_items: [evening]
    })
    const path = `/api/station/${station.id}/streamer/${id}`
    await program.ask('PUT', path, { body: { schedule_items: [...items, { ...evening, days: [6] }] } })
    const { body } = await program.ask('GET', path)
    const [first, second] = body.schedule_items
    expect(first).toEqual(items[0])
    expect(second).toMatchObject({ ...evening, days: [6] })
    expect(second.id).not.toBe(first.id)
  })
})

test('broadcasts are listed newest first, searched and paged, and deleted with their station', async ({
  program,
  station
}) => {
  const { id } = await station.addStreamer({ streamer_username: 'wren', display_name: 'DJ Wren' })
  await program.sql`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms)
    values (${station.id}, ${id}, 'wren', 'DJ Wren', 1783468800999, 1783472400000),
      (${station.id}, null, 'source', 'Live Broadcast', 1783476000000, null)`
  const path = `/api/station/${station.id}/streamers/broadcasts`
  const byWren = {
    id: expect.any(Number),
    streamer: id,
    username: 'wren',
    streamer_name: 'DJ Wren',
    timestamp_start: 1783468800,
    timestamp_end: 1783472400
  }
  const bySource = {
    id: expect.any(Number),
    streamer: null,
    username: 'source',
    streamer_name: 'Live Broadcast',
    timestamp_start: 1783476000,
    timestamp_end: null
  }
  const { body, headers } = await program.ask('GET', path)
  expect(body).toEqual([bySource, byWren])
  expect(headers.get('x-total-count')).toBe('2')
  expect((await program.ask('GET', `${path}?searchPhrase=DJ%20W`)).body).toEqual([byWren])
  const page = await program.ask('GET', `${path}?per_page=1&page=2`)
  expect(page.body).toMatchObject({ page: 2, total: 2, rows: [byWren] })
  expect((await program.ask('GET', `${path}?sort=id`)).status).toBe(400)

  await program.ask('DELETE', `/api/station/${station.id}/streamer/${id}`)
  expect((await program.ask('GET', path)).body).toEqual([bySource, byWren])
  await station.addStreamer({ streamer_username: 'lark' })
  expect(await countRows(program, station.id)).toEqual({ streamers: 1, broadcasts: 2 })
  expect((await program.ask('DELETE', `/api/admin/station/${station.id}`)).status).toBe(200)
  const isGone = async () => {
    const rows = await countRows(program, station.id)
    return rows?.streamers === 0 && rows.broadcasts === 0
  }
  await waitFor(isGone, { deadlineMs: 20_000, what: 'the rows of the station to be removed' })
})

describe('a picture of a streamer', () => {
  const png = Buffer.from('89504e470d0a1a0a00ff', 'hex')
  const gif = Buffer.from('GIF89a\0\xFF', 'latin1')
  const versionOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 8)

  const send = async ({ baseUrl }: Program, path: string, bytes: Uint8Array, type = 'image/png') => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey, 'Content-Type': type },
      body: Uint8Array.from(bytes)
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }

  const look = async ({ baseUrl }: Program, path: string, key = '') => {
    const response = await fetch(baseUrl + path, {
      redirect: 'manual',
      ...(key === '' ? {} : { headers: { 'X-API-Key': key } })
    })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      cache: response.headers.get('cache-control'),
      location: response.headers.get('location'),
      bytes: Buffer.from(await response.arrayBuffer())
    }
  }

  test('has the type of its bytes, is public, and can be replaced and deleted', async ({
    program,
    station
  }) => {
    const { id } = await station.addStreamer({ streamer_username: 'wren' })
    const path = `/api/station/${station.id}/streamer/${id}/art`
    const artOf = (version: string) => `/api/station/${station.shortName}/streamer/${id}/art-${version}.jpg`
    const first = artOf(versionOf(png))
    const builtIn = { status: 302, location: expect.stringMatching(/\/static\/img\/generic_song\.jpg$/) }
    expect(await look(program, first)).toMatchObject(builtIn)

    expect(await send(program, path, png, 'image/jpeg')).toMatchObject({
      status: 200,
      body: { success: true }
    })
    expect(await look(program, first)).toMatchObject({
      status: 200,
      type: 'image/png',
      cache: 'public, max-age=31536000',
      bytes: png
    })
    expect(await look(program, artOf('0'))).toMatchObject({ cache: 'public, max-age=300', bytes: png })

    expect(await send(program, path, gif)).toMatchObject({ status: 200 })
    expect(await look(program, first)).toMatchObject({ cache: 'public, max-age=300', bytes: gif })
    expect(await look(program, artOf(versionOf(gif)))).toMatchObject({ type: 'image/gif' })

    expect((await program.ask('DELETE', path)).status).toBe(200)
    expect(await look(program, artOf(versionOf(gif)))).toMatchObject(builtIn)
  })

  test('is refused if it is not a picture, too large, or the streamer is unknown', async ({
    program,
    station
  }) => {
    const { id } = await station.addStreamer({ streamer_username: 'wren' })
    const path = `/api/station/${station.id}/streamer/${id}/art`
    expect(await send(program, path, Buffer.from('<svg/>'))).toMatchObject({
      status: 400,
      body: { extra_data: { errors: [{ code: 'invalid_format' }] } }
    })
    expect(await send(program, path, Buffer.alloc(0))).toMatchObject({ status: 400 })
    expect(await send(program, path, png, 'application/json')).toMatchObject({ status: 415 })
    const large = Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024 - png.length)])
    expect(await send(program, path, Buffer.concat([large, png]))).toMatchObject({ status: 413 })
    expect(await look(program, `${path}.jpg`)).toMatchObject({ status: 302 })
    expect(await send(program, path, large)).toMatchObject({ status: 200 })
    // Comparing large buffers element by element would be slow.
    expect((await look(program, `${path}.jpg`)).bytes.equals(large)).toBe(true)

    const { body: other } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Other' } })
    for (const stranger of [
      `/api/station/${other.id}/streamer/${id}/art`,
      `/api/station/${station.id}/streamer/999999999/art`
    ]) {
      expect([stranger, (await send(program, stranger, png)).status]).toEqual([stranger, 404])
      expect([stranger, (await program.ask('DELETE', stranger)).status]).toEqual([stranger, 404])
      expect([stranger, (await look(program, `${stranger}.jpg`)).status]).toEqual([stranger, 302])
    }
    for (const nobody of ['abc', '0', '-1', '9'.repeat(40), '%00'])
      expect((await look(program, `/api/station/${station.id}/streamer/${nobody}/art-1.jpg`)).status).toBe(
        302
      )
  })

  test('of a private station requires a key', async ({ program, station }) => {
    const { id } = await station.addStreamer({ streamer_username: 'wren' })
    const path = `/api/station/${station.id}/streamer/${id}/art`
    await send(program, path, png)
    await program.ask('PUT', `/api/admin/station/${station.id}`, { body: { is_public: false } })
    await waitFor(async () => (await look(program, `${path}.jpg`)).status === 302, {
      deadlineMs: 5_000,
      what: 'the picture to be hidden'
    })
    expect(await look(program, `${path}.jpg`, adminKey)).toMatchObject({
      status: 200,
      cache: 'private, no-store',
      bytes: png
    })
  })
})
