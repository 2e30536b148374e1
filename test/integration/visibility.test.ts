import { describe, expect } from 'vitest'

import { storeFormerName } from '../../src/stores/db/former-names.ts'
import { raiseAlert } from '../../src/stores/db/notifications.ts'
import { test } from '../support/fixtures.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

const keys = '/api/v1/main/api-keys'
const notifications = '/api/v1/main/notifications'

async function makeKey({ ask }: Program, permissions: readonly string[]): Promise<string> {
  return (await ask('POST', keys, { body: { name: 'made', permissions } })).body.key
}

/** Creates a private station in Postgres, which the program may not have read yet. */
async function hideStation({ sql }: Program): Promise<{ readonly id: number; readonly name: string }> {
  return sql.begin(async tx => {
    const id = await seedStation(tx)
    const [row] = await tx<{ name: string }[]>`
      update stations set is_public = false where id = ${id} returning short_name as name`
    return { id, name: row?.name ?? '' }
  })
}

test('a key without permission cannot confirm the names of private stations', async ({ program }) => {
  const { name } = await hideStation(program)
  const key = await makeKey(program, [])
  const unknown = `x${name.slice(1)}`
  for (const place of [
    'station/*/queue',
    'station/*/history',
    'station/*/webhooks',
    'internal/*/liquidsoap/nextsong'
  ]) {
    const ask = async (station: string) => {
      const { status, body } = await program.ask('GET', `/api/${place.replace('*', station)}`, { key })
      return [place, status, body]
    }
    expect(await ask(name)).toEqual(await ask(unknown))
  }
})

test('a key cannot grant permissions at a private station that it must not see', async ({ program }) => {
  const { id, name } = await hideStation(program)
  const key = await makeKey(program, ['administer api keys'])
  const grant = async (station: string | number) => {
    const body = { name: 'x', station_permissions: [{ station, permissions: ['view station reports'] }] }
    const response = await program.ask('POST', keys, { key, body })
    return [response.status, response.body.message]
  }
  const formerName = `Радио ${id}`
  await storeFormerName(program.sql, id, formerName)
  const unknown = [400, 'station_permissions.0.station is no station.']
  for (const station of [name, id, formerName, `x${name}`]) expect(await grant(station)).toEqual(unknown)
  const creator = await makeKey(program, ['administer api keys', 'view station reports'])
  for (const station of [name, formerName]) {
    const body = { name: 'x', station_permissions: [{ station, permissions: ['view station reports'] }] }
    expect((await program.ask('POST', keys, { key: creator, body })).status).toBe(200)
  }
})

describe('notifications', () => {
  const sources = ['operator', 'broadcast', 'playout', 'storage', 'webhooks'] as const
  const address = 's3://secret-bucket/backups'

  /** Raises one notification of each source. Returns their ids by source. */
  async function raiseOfEach(program: Program): Promise<ReadonlyMap<string, string>> {
    const { body } = await program.ask('POST', notifications, {
      body: { title: 'Of operator', body: address }
    })
    const ids = new Map<string, string>([['operator', body.notification.notification_id]])
    for (const source of sources) {
      if (source === 'operator') continue
      const fact = `visibility:${source}:${body.notification.notification_id}`
      await raiseAlert(program.sql, {
        key: fact,
        title: `Of ${source}`,
        body: address,
        type: 'info',
        source
      })
      const [row] = await program.sql<{ id: string }[]>`
        select notification_id as id from notifications where source = ${source} order by created_at desc limit 1`
      ids.set(source, row?.id ?? '')
    }
    return ids
  }

  test.for([
    [['view administration'], ['operator']],
    [['administer settings'], ['operator']],
    [
      ['view administration', 'administer storage locations'],
      ['operator', 'storage']
    ],
    [
      ['view administration', 'view station management'],
      ['operator', 'broadcast', 'playout']
    ],
    [
      ['view administration', 'manage station web hooks'],
      ['operator', 'webhooks']
    ],
    [
      ['view administration', 'administer stations'],
      ['operator', 'broadcast', 'playout', 'webhooks']
    ],
    [['view all'], [...sources]],
    [['administer all'], [...sources]]
  ] as const)('a key with %j sees those of %j', async ([permissions, seen], { program }) => {
    const ids = await raiseOfEach(program)
    const key = await makeKey(program, permissions)
    const { body } = await program.ask('GET', `${notifications}?per_page=500`, { key })
    const listed = new Set(body.notifications.map((each: JsonBody) => each.notification_id))
    for (const source of sources) {
      const id = ids.get(source) ?? ''
      const isSeen = seen.some(each => each === source)
      const { status } = await program.ask('GET', `${notifications}/${id}`, { key })
      expect([source, listed.has(id), status]).toEqual([source, isSeen, isSeen ? 200 : 404])
    }
  })

  test('a key without permissions can neither read nor count them', async ({ program }) => {
    const ids = await raiseOfEach(program)
    const key = await makeKey(program, [])
    for (const path of ['', '/stats', `/${ids.get('storage')}`]) {
      const { status, body } = await program.ask('GET', notifications + path, { key })
      expect([path, status, JSON.stringify(body).includes(address)]).toEqual([path, 403, false])
    }
  })

  test('a key cannot mark or delete notifications that it must not see', async ({ program }) => {
    const ids = await raiseOfEach(program)
    const key = await makeKey(program, ['administer settings'])
    const path = `${notifications}/${ids.get('storage')}`
    expect((await program.ask('PUT', path, { key, body: { is_read: true } })).status).toBe(404)
    expect((await program.ask('DELETE', path, { key })).status).toBe(404)
    const body = { ids: [...ids.values()] }
    const { body: deleted } = await program.ask('POST', `${notifications}/bulk-delete`, { key, body })
    expect(deleted.deleted).toBe(1)
    expect((await program.ask('GET', path)).status).toBe(200)
  })
})

test('statistics of records and jobs require permission to view the administration', async ({ program }) => {
  for (const [permissions, status] of [
    [[], 403],
    [['manage station media'], 403],
    [['view administration'], 200],
    [['view all'], 200]
  ] as const) {
    const key = await makeKey(program, permissions)
    for (const path of ['/api/stats', '/api/queues'])
      expect([path, permissions, (await program.ask('GET', path, { key })).status]).toEqual([
        path,
        permissions,
        status
      ])
    expect((await program.ask('GET', '/api/health', { key })).status).toBe(200)
  }
})
