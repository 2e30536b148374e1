import { randomBytes } from 'node:crypto'

import { describe, expect, onTestFinished } from 'vitest'

import { raiseOutdatedRevisions } from '../../src/engine/all-stations.ts'
import { openSql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { openSilentFaults } from '../support/playout.ts'
import { adminKey, type Program } from '../support/program.ts'
import { seedStation, seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

interface Holder extends AsyncDisposable {
  /** The process id of its Postgres backend. */
  readonly pid: number
}

/** Holds a station's row until it is disposed. */
async function holdStation({ sql }: Pick<Program, 'sql'>, stationId: number): Promise<Holder> {
  let release = () => {}
  const released = new Promise<void>(resolve => (release = resolve))
  let isHeld = (_pid: number) => {}
  const held = new Promise<number>(resolve => (isHeld = resolve))
  const holding = sql.begin(async tx => {
    // Longer than the idle timeout of a transaction of the program.
    await tx`set local idle_in_transaction_session_timeout = 0`
    await tx`select from stations where id = ${stationId} for update`
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    isHeld(row?.pid ?? 0)
    await released
  })
  return {
    pid: await held,
    [Symbol.asyncDispose]: async () => {
      release()
      await holding
    }
  }
}

/** Number of connections that wait for a holder, directly or behind others. */
async function lockWaits({ sql }: Pick<Program, 'sql'>, { pid }: Holder): Promise<number> {
  const [waiting] = await sql<{ rows: number }[]>`
    with recursive waiting (pid) as (
      values (${pid}::int)
      union
      select a.pid from pg_stat_activity a join waiting w on w.pid = any(pg_blocking_pids(a.pid))
    )
    select count(*) - 1 as rows from waiting`
  return waiting?.rows ?? 0
}

describe('a write in conflict with another one', () => {
  test('is refused without effect, for every kind of write', { timeout: 30_000 }, async ({ program }) => {
    const id = await seedStation(program.sql)
    const station = `/api/station/${id}`
    await program.ask('PUT', `/api/admin/station/${id}`, { body: { description: 'on air' } })
    const [file] = (await program.ask('GET', `${station}/files`)).body
    const [row] = (await program.ask('GET', `${station}/queue`)).body
    const audited = async () => {
      const [counted] = await program.sql<{ rows: number }[]>`
        select count(*) as rows from audit_log where station_id = ${id}`
      return counted?.rows
    }
    const before = await audited()
    await using _ = await holdStation(program, id)
    const writes: [string, string, object?][] = [
      ['POST', `${station}/queue`, { media_id: file.id }],
      ['POST', `${station}/queue/clear`],
      ['DELETE', new URL(row.links.self).pathname],
      ['POST', `${station}/backend/skip`],
      ['POST', `${station}/playlists`, { name: 'late' }],
      ['PUT', `/api/admin/station/${id}`, { name: 'late' }]
    ]
    const responses = await Promise.all(
      writes.map(([method, path, body]) => program.ask(method, path, { body }))
    )
    expect(responses.map(({ status }) => status)).toEqual(writes.map(() => 503))
    // Reports of listeners lock nothing.
    const report = await program.ask('PUT', `${station}/listeners`, { body: { total: 3 } })
    expect(report.status).toBe(200)
    expect(await audited()).toBe(before)
    expect((await program.ask('GET', `${station}/playlists`)).body).toHaveLength(1)
  })

  test('leaves connections for writes of other stations', { timeout: 30_000 }, async ({ program }) => {
    const [locked, other] = await seedStations(program.sql, { stations: 2 })
    if (!locked || !other) throw new Error('no stations were made')
    const held = await holdStation(program, locked.id)
    const write = (id: number) => program.ask('PUT', `/api/admin/station/${id}`, { body: { name: 'New' } })
    const waiting = Array.from({ length: 40 }, () => write(locked.id))
    let most = 0
    const watching = setInterval(() => {
      const noteCount = (count: number) => (most = Math.max(most, count))
      lockWaits(program, held).then(noteCount, () => {})
    }, 100)
    onTestFinished(() => clearInterval(watching))
    await waitFor(() => most >= 2, { deadlineMs: 4_000, what: 'writes to wait' })
    const startedAtMs = performance.now()
    expect((await write(other.id)).status).toBe(200)
    expect(performance.now() - startedAtMs).toBeLessThan(1_500)
    const responses = await Promise.all(waiting)
    clearInterval(watching)
    expect(most).toBe(2)
    await held[Symbol.asyncDispose]()
    const refusals = responses.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`)
    expect(new Set(refusals)).toEqual(new Set(['503 5']))
    expect((await write(locked.id)).status).toBe(200)
  })

  test('is not committed after the client has left', async ({ program }) => {
    const id = await seedStation(program.sql)
    const name = `given up ${randomBytes(4).toString('hex')}`
    const leaving = new AbortController()
    const held = await holdStation(program, id)
    const asked = fetch(`${program.baseUrl}/api/station/${id}/playlists`, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name }),
      signal: leaving.signal
    })
    await waitFor(async () => (await lockWaits(program, held)) > 0, {
      deadlineMs: 4_000,
      what: 'the write to wait'
    })
    leaving.abort()
    await expect(asked).rejects.toThrow('aborted')
    await held[Symbol.asyncDispose]()
    await program.ask('POST', `/api/station/${id}/playlists`, { body: { name: 'afterwards' } })
    const names = (await program.ask('GET', `/api/station/${id}/playlists`)).body.map(
      (each: { name: string }) => each.name
    )
    expect(names).toEqual(['Rotation', 'afterwards'])
  })

  test('does not prevent other stations from showing a fact of all stations', async ({
    databaseUrl,
    sql
  }) => {
    const stations = await seedStations(sql, { stations: 3 })
    await sql`insert into settings (name, value) values ('shown everywhere', '1')`
    await using second = {
      sql: openSql(databaseUrl, { max: 1, name: 'holder' }),
      [Symbol.asyncDispose]: async () => second.sql.end({ timeout: 5 })
    }
    const ids = stations.map(({ id }) => id)
    const stationFaults = openSilentFaults()
    const raise = async () => {
      const raised: number[] = []
      await raiseOutdatedRevisions({ sql, stationFaults }, 1, async group => void raised.push(...group))
      return raised.toSorted((a, b) => a - b)
    }
    {
      await using _ = await holdStation(second, ids[1] ?? 0)
      expect(await raise()).toEqual([ids[0], ids[2]])
      expect(await raise()).toEqual([])
    }
    expect(await raise()).toEqual([ids[1]])
    expect(await raise()).toEqual([])
  })
})

describe('names generated concurrently', () => {
  test('of custom fields are distinct', async ({ program }) => {
    const name = `Field ${randomBytes(3).toString('hex')}`
    const made = await Promise.all(
      Array.from({ length: 8 }, () => program.ask('POST', '/api/admin/custom_fields', { body: { name } }))
    )
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(made.map(({ body }) => body.short_name)).size).toBe(8)
  })
})
