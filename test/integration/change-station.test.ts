import { describe, expect, vi } from 'vitest'

import { advance } from '../../src/engine/advance.ts'
import { changeStation, createStation } from '../../src/engine/change-station.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import type { Tx } from '../../src/stores/db/sql.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStation } from '../support/stations.ts'
import { changeUnpublished } from '../support/unpublished.ts'
import { waitFor } from '../support/wait.ts'

const refusal = /revision of station \d+ raised outside of changeStation/

describe('the revision of a station', () => {
  test('cannot be raised outside of changeStation', async ({ sql }) => {
    const id = await seedStation(sql)
    const raised = sql`update stations set revision = next_revision(revision) where id = ${id}`
    await expect(raised).rejects.toThrow(refusal)
    await changeUnpublished(sql, tx => tx`update stations set revision = next_revision(revision)`)
    const later = sql.begin(async tx => tx`update stations set revision = next_revision(revision)`)
    await expect(later).rejects.toThrow(refusal)
  })

  test('is raised once, however often parts are marked', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const revisions = () => sql`
      select revision, station_revision as station, queue_revision as queue, playback_revision as playback
      from stations where id = ${id}`
    const [before] = await revisions()
    await changeStation(playout, id, async ({ mark }) => {
      mark(['station'])
      mark(['queue', 'station'])
    })
    const [after] = await revisions()
    expect(after?.['revision']).toBeGreaterThan(before?.['revision'])
    expect(after).toEqual({
      revision: after?.['revision'],
      station: after?.['revision'],
      queue: after?.['revision'],
      playback: before?.['playback']
    })
  })
})

describe('a change', () => {
  test('without visible parts writes columns and publishes nothing', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const [before] = await sql`select revision from stations where id = ${id}`
    await changeStation(playout, id, async ({ mark }) => mark([], { wake_at_ms: 7 }))
    const [after] = await sql`select revision, wake_at_ms as "wakeAtMs" from stations where id = ${id}`
    expect(after).toEqual({ ...before, wakeAtMs: 7 })
    expect(await readStationStates(playout.redis, [id])).toEqual([null])
  })

  test('that throws is rolled back', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const before = await sql`select * from stations where id = ${id}`
    const broken = changeStation(playout, id, async ({ tx, mark }) => {
      mark(['station'])
      await tx`update stations set name = 'Half done' where id = ${id}`
      throw new Error('no')
    })
    await expect(broken).rejects.toThrow('no')
    expect(await sql`select * from stations where id = ${id}`).toEqual(before)
  })

  test('whose last statement fails rejects and is rolled back', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const broken = changeStation(playout, id, async ({ tx, mark }) => {
      await tx`update stations set name = 'Half done' where id = ${id}`
      mark(['queue'], { wake_at_ms: 2 ** 64 })
    })
    await expect(broken).rejects.toThrow('out of range')
    const [row] = await sql`select name from stations where id = ${id}`
    expect(row?.['name']).not.toBe('Half done')
    expect(await readStationStates(playout.redis, [id])).toEqual([null])
  })

  test.for([
    ['', { isPublishedLater: false }],
    [' and rejects, also if it is published later', { isPublishedLater: true }]
  ] as const)(
    'with a failed statement that it did not await is rolled back%s',
    async ([, options], { sql, redisUrl }) => {
      await using playout = await openPlayout(sql, redisUrl)
      const id = await seedStation(sql)
      const before = await sql`select * from stations where id = ${id}`
      const broken = changeStation(
        playout,
        id,
        async ({ tx, mark, send }) => {
          mark(['station'])
          send([
            tx`update stations set name = 'Half done' where id = ${id}`,
            tx`insert into song_history (station_id) values (null)`
          ])
        },
        options
      )
      await expect(broken).rejects.toThrow('violates not-null constraint')
      expect(await sql`select * from stations where id = ${id}`).toEqual(before)
      expect(await readStationStates(playout.redis, [id])).toEqual([null])
    }
  )

  test('reads what it sent before', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const name = await changeStation(playout, id, async ({ tx, send }) => {
      send([tx`update stations set name = 'Sent' where id = ${id}`])
      return tx`select name from stations where id = ${id}`
    })
    expect(name).toEqual([{ name: 'Sent' }])
  })

  test('of a station that does not exist is refused', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const change = changeStation(playout, 987_654, async () => {})
    await expect(change).rejects.toMatchObject({ kind: 'not-found' })
  })

  test('reads what another transaction wrote while it held the row lock', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    await advance(playout, { stationId: id, endedShId: 0, cause: 'wake' })
    const [play] = await sql<{ id: number }[]>`
      select id from song_history where station_id = ${id} and ended_at_ms is null`
    let isLocked = () => {}
    const locked = new Promise<void>(resolve => (isLocked = resolve))
    const first = sql.begin(async tx => {
      await tx`select from stations where id = ${id} for no key update`
      isLocked()
      await waitFor(async () => (await sql`select from pg_locks where not granted`).length > 0, {
        deadlineMs: 5_000,
        what: 'the second change'
      })
      await tx`update song_history set ended_at_ms = started_at_ms where id = ${play?.id ?? 0}`
    })
    await locked
    const seen = await changeStation(playout, id, {
      reads: async tx =>
        tx`
        select from song_history where station_id = ${id} and ended_at_ms is null`.execute(),
      change: async ({ play: current }, open) => ({ current, open: open.length })
    })
    await first
    expect(seen).toEqual({ current: null, open: 0 })
  })

  test('with a read that fails is rolled back', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const id = await seedStation(sql)
    const broken = changeStation(playout, id, {
      reads: async tx => tx`select 1 / (${id}::bigint - ${id}::bigint)`.execute(),
      change: async ({ mark }) => mark(['station'], { wake_at_ms: 7 })
    })
    await expect(broken).rejects.toThrow('division by zero')
    expect(await sql`select wake_at_ms as wake from stations where id = ${id}`).toEqual([{ wake: null }])
  })
})

const renameStation = (playout: EngineServices, id: number, name: string) =>
  changeStation(playout, id, async ({ tx, mark }) => {
    await tx`update stations set name = ${name} where id = ${id}`
    mark(['station'])
  })

test('many changes of a station at once are all published', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const id = await seedStation(sql)
  const rename = (name: string) => renameStation(playout, id, name)
  await Promise.all(Array.from({ length: 20 }, (_, index) => rename(`Name ${index}`)))
  const [row] = await sql<{ name: string; revision: number }[]>`
    select name, revision from stations where id = ${id}`
  const [state] = await readStationStates(playout.redis, [id])
  expect(state).toMatchObject({ profile: { name: row?.name }, revisions: { station: row?.revision } })
  expect(playout.publications.size()).toBe(0)
})

test('a change is published without reading what is stored, unless that is of another revision', async ({
  sql,
  redisUrl
}) => {
  await using playout = await openPlayout(sql, redisUrl)
  const id = await seedStation(sql)
  const rename = (name: string) => renameStation(playout, id, name)
  const shownName = async () => (await readStationStates(playout.redis, [id]))[0]?.profile.name
  await rename('First')
  const reads = vi.spyOn(playout.redis, 'hmget')
  await rename('Second')
  expect(reads).not.toHaveBeenCalled()
  expect(await shownName()).toBe('Second')
  await changeUnpublished(
    sql,
    tx => tx`update stations set revision = next_revision(revision) where id = ${id}`
  )
  reads.mockClear()
  await rename('Third')
  expect(reads).toHaveBeenCalled()
  expect(await shownName()).toBe('Third')
})

test('a station that is created is changed in the same transaction', async ({ sql, redisUrl }) => {
  await using playout = await openPlayout(sql, redisUrl)
  const insert = async (tx: Tx) => {
    const [row] = await tx<{ id: number }[]>`
      insert into stations (name, short_name) values ('New', 'new') returning id`
    return row?.id ?? 0
  }
  const broken = createStation(playout, insert, async () => {
    throw new Error('no')
  })
  await expect(broken).rejects.toThrow('no')
  expect(await sql`select from stations`).toHaveLength(0)
  const id = await createStation(playout, insert, async ({ mark }) => mark(['station']))
  expect((await readStationStates(playout.redis, [id]))[0]?.profile.name).toBe('New')
})
