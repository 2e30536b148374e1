import { describe, expect, onTestFinished } from 'vitest'

import { hashPassword } from '../../src/api/auth/passwords.ts'
import { verifyStreamerLogin } from '../../src/api/streamers/streamer-login.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { findStreamer } from '../../src/stores/db/stations.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { test as base } from '../support/fixtures.ts'
import { seedStation } from '../support/stations.ts'

const secrets = openSecrets(Buffer.alloc(32))
const monday = Date.parse('2026-07-06T08:30:00Z')
const hourMs = 3_600_000

let lastAddress = 0
/** An address without failed logins. */
const newAddress = () => `192.0.2.${(lastAddress += 1)}`

interface Account {
  readonly name: string
  readonly password?: string
  readonly display?: string
  readonly isActive?: boolean
  readonly schedule?: readonly object[]
}

async function addStreamer(sql: Sql, stationId: number, account: Account): Promise<number> {
  const { name, password = '', display = '', isActive = true, schedule } = account
  const hash = password === '' ? '' : await hashPassword(password)
  const [row] = await sql<{ id: number }[]>`
    insert into streamers (station_id, streamer_username, streamer_password, display_name, is_active,
      enforce_schedule, schedule_items)
    values (${stationId}, ${name}, ${hash}, ${display}, ${isActive}, ${schedule !== undefined},
      ${sql.json(JSON.parse(JSON.stringify(schedule ?? [])))})
    returning id`
  return row?.id ?? 0
}

/** A station that accepts streamers, with `wren`, whose password is `pass,word`. */
const test = base.extend('station', async ({ sql, redisUrl }, { onCleanup }) => {
  const redis = openRedis({ urls: [redisUrl], isCluster: false }, 'test')
  onCleanup(() => redis.disconnect())
  const deps = { sql, secrets, redis }
  const id = await seedStation(sql)
  const sealed = secrets.seal('sea:salt', 'stations.source_password')
  await sql`update stations set enable_streamers = true, source_password = ${sealed}, live_text = 'On the air',
    timezone = 'Europe/Berlin' where id = ${id}`
  const wrenId = await addStreamer(sql, id, { name: 'wren', password: 'pass,word', display: 'DJ Wren' })
  return {
    id,
    wrenId,
    deps,
    login: async (user: string, password: string, address = newAddress(), nowMs = monday) =>
      verifyStreamerLogin(deps, id, { user, password, address }, nowMs)
  }
})

type Attempt = readonly [user: string, password: string]

describe('a streamer', () => {
  const right: readonly Attempt[] = [
    ['wren', 'pass,word'],
    ['', 'wren,pass,word'],
    ['', 'wren:pass,word'],
    ['source', 'wren:pass,word'],
    ['SOURCE', 'wren,pass,word']
  ]
  const wrong: readonly Attempt[] = [
    ['wren', 'wrong'],
    ['wren', ''],
    ['wren', 'wren,pass,word'],
    ['Wren', 'pass,word'],
    ['wren\0', 'pass,word'],
    ['nobody', 'pass,word'],
    ['', 'wren,wrong'],
    ['', 'pass,word'],
    ['', 'wren\0:pass,word'],
    ['source', ''],
    ['wren', 'sea:salt']
  ]

  test('logs in with name and password, in each form', async ({ station }) => {
    const wren = { username: 'wren', displayName: 'DJ Wren', streamerId: station.wrenId }
    for (const attempt of right) expect([attempt, await station.login(...attempt)]).toEqual([attempt, wren])
  })

  test('is rejected with other credentials', async ({ station }) => {
    for (const attempt of wrong) expect([attempt, await station.login(...attempt)]).toEqual([attempt, null])
  })

  test('without a display name has the username, and logs in only at the own station', async ({
    sql,
    station
  }) => {
    const other = await seedStation(sql)
    await sql`update stations set enable_streamers = true where id = ${other}`
    const id = await addStreamer(sql, other, { name: 'plain', password: 'x' })
    const login = { user: 'plain', password: 'x', address: '' }
    expect(await verifyStreamerLogin(station.deps, other, login, monday)).toEqual({
      username: 'plain',
      displayName: 'plain',
      streamerId: id
    })
    expect(await station.login('plain', 'x')).toBeNull()
  })

  test('is rejected without a password, if inactive, and outside an enforced schedule', async ({
    sql,
    station
  }) => {
    const hours = {
      id: 1,
      start_time: 1000,
      end_time: 1100,
      start_date: '',
      end_date: '',
      days: [1],
      loop_once: false
    }
    await addStreamer(sql, station.id, { name: 'mute' })
    await addStreamer(sql, station.id, { name: 'away', password: 'x', isActive: false })
    await addStreamer(sql, station.id, { name: 'timed', password: 'x', schedule: [hours] })
    expect(await station.login('mute', '')).toBeNull()
    expect(await station.login('away', 'x')).toBeNull()
    expect(await station.login('timed', 'x')).toMatchObject({ username: 'timed' })
    expect(await station.login('timed', 'x', newAddress(), monday + hourMs)).toBeNull()
  })
})

describe('the user source', () => {
  const right: readonly Attempt[] = [
    ['source', 'sea:salt'],
    ['Source', 'sea:salt'],
    ['', 'sea:salt'],
    ['', 'source:sea:salt'],
    ['source', 'source,sea:salt']
  ]

  test('logs in with the password of the station', async ({ station }) => {
    const source = { username: 'source', displayName: 'On the air', streamerId: null }
    for (const attempt of right) expect([attempt, await station.login(...attempt)]).toEqual([attempt, source])
  })

  test('is rejected by a station without a source password', async ({ sql, station }) => {
    await sql`update stations set source_password = '' where id = ${station.id}`
    for (const password of ['', 'sea:salt', 'source:']) {
      expect([password, await station.login('source', password)]).toEqual([password, null])
    }
  })
})

test('logins fail if the station does not accept streamers or does not exist', async ({ sql, station }) => {
  await sql`update stations set enable_streamers = false where id = ${station.id}`
  await expect(station.login('wren', 'pass,word')).rejects.toMatchObject({ status: 400 })
  await expect(station.login('source', 'sea:salt')).rejects.toMatchObject({ status: 400 })
  const nowhere = { user: 'wren', password: 'pass,word', address: '' }
  await expect(verifyStreamerLogin(station.deps, 999_999, nowhere, monday)).rejects.toMatchObject({
    status: 404
  })
})

describe('wrong passwords', () => {
  test('block an address after ten, and no other address', async ({ station }) => {
    const address = newAddress()
    for (let index = 0; index < 9; index++) expect(await station.login('source', 'no', address)).toBeNull()
    expect(await station.login('wren', 'pass,word', address)).not.toBeNull()
    expect(await station.login('wren', 'wrong', address)).toBeNull()
    expect(await station.login('wren', 'pass,word', address)).toBeNull()
    expect(await station.login('source', 'sea:salt', address)).toBeNull()
    expect(await station.login('wren', 'pass,word')).not.toBeNull()
  })

  test('count for the whole network of an IPv6 host', async ({ station }) => {
    for (let index = 0; index < 10; index++) await station.login('source', 'no', `2001:db8:1:2::${index}`)
    expect(await station.login('wren', 'pass,word', '2001:db8:1:2::ffff')).toBeNull()
    expect(await station.login('wren', 'pass,word', '2001:db8:1:3::1')).not.toBeNull()
  })

  test('do not count for another station', async ({ sql, station }) => {
    const address = newAddress()
    for (let index = 0; index < 10; index++) await station.login('source', 'no', address)
    const other = await seedStation(sql)
    await sql`update stations set enable_streamers = true where id = ${other}`
    await addStreamer(sql, other, { name: 'lark', password: 'x' })
    const login = { user: 'lark', password: 'x', address }
    expect(await verifyStreamerLogin(station.deps, other, login, monday)).not.toBeNull()
  })

  test('are limited to ten when sent concurrently', async ({ databaseUrl, station }) => {
    const address = newAddress()
    // One connection keeps the order, so that the right password is verified last.
    const sql = openSql(databaseUrl, { max: 1, name: 'test' })
    onTestFinished(async () => sql.end({ timeout: 1 }))
    const words = [...Array.from({ length: 20 }, (_, index) => `wrong ${index}`), 'pass,word']
    const responses = await Promise.all(
      words.map(async password =>
        verifyStreamerLogin({ ...station.deps, sql }, station.id, { user: 'wren', password, address }, monday)
      )
    )
    expect(responses).toEqual(words.map(() => null))
  })
})

test('a streamer is found by name, with the path of the picture', async ({ sql, station }) => {
  const { id, wrenId } = station
  const [row] = await sql<{ shortName: string }[]>`
    select short_name as "shortName" from stations where id = ${id}`
  expect(await findStreamer(sql, id, 'wren')).toEqual({
    id: wrenId,
    displayName: 'DJ Wren',
    artPath: '',
    mayBeLive: true
  })
  await sql`update streamers set artwork_hash = ${'0123456789abcdef'.repeat(4)} where id = ${wrenId}`
  expect(await findStreamer(sql, id, 'wren')).toEqual({
    id: wrenId,
    displayName: 'DJ Wren',
    artPath: `/api/station/${row?.shortName}/streamer/${wrenId}/art-01234567.jpg`,
    mayBeLive: true
  })
  expect(await findStreamer(sql, id, 'source')).toEqual({
    id: null,
    displayName: 'On the air',
    artPath: '',
    mayBeLive: true
  })
  for (const nobody of ['nobody', '', 'wren\0']) expect(await findStreamer(sql, id, nobody)).toBeNull()
  expect(await findStreamer(sql, 999_999, 'source')).toBeNull()
})
