import { describe, expect } from 'vitest'

import { azuracastAnswer } from '../contract/azuracast-records.ts'
import { expectStatus, openCalls } from '../contract/calls.ts'
import { differences } from '../contract/shape.ts'
import { addedRows, interfaceRows, type Row } from '../contract/table.ts'
import { bodyOf, makeRecord, openStations, pathOf, recordParameter } from '../contract/world.ts'
import { test as base } from '../support/fixtures.ts'

/** One server, a station, and a key with all permissions for each dialect. */
const test = base.extend('world', { scope: 'file' }, async ({ program }, { onCleanup }) => {
  const call = openCalls(program)
  const [station] = await openStations(program, call)
  await call('POST', '/api/admin/custom_fields', { body: { name: 'Mood', short_name: 'mood' } })
  // Lists of keys show those with a dialect differently, and other files share the program.
  onCleanup(
    async () => void (await program.sql`delete from api_keys where name in ('documented', 'azuracast')`)
  )
  const keyOf = async (dialect: string) => {
    const body = { name: dialect, permissions: ['administer all'], dialect }
    const made = await call('POST', '/api/v1/main/api-keys', { body })
    expect(made.body.api_key.dialect).toBe(dialect)
    return String(made.body.key)
  }
  return { call, station, documented: await keyOf('documented'), azuracast: await keyOf('azuracast') }
})

const rows = [...interfaceRows, ...addedRows]
  // Keys with a dialect show it.
  .filter(({ path }) => path !== '/api/v1/main/api-keys')
  .map((row): [string, Row] => [`${row.method} ${row.path}`, row])

describe('each key gets its own dialect on', () => {
  test.for(rows)('%s', async ([, row], { world: { call, station, documented, azuracast } }) => {
    const translated = azuracastAnswer(row)
    for (const [key, shape] of [
      [documented, row.answer],
      [azuracast, translated ?? row.answer]
    ] as const) {
      const record = recordParameter(row.path) === undefined ? '' : await makeRecord(call, row, station)
      const path = pathOf(row.path, station.id, record)
      const { status, body, headers } = await call(row.method, path, { key, body: bodyOf(row) })
      expectStatus({ status, body }, 200)
      expect(differences(body, shape)).toEqual([])
      if (translated) expect(headers.get('vary')).toContain('X-API-Key, Authorization')
    }
  })
})
