import { resourceCases } from '../../contract/resource-cases.ts'
import { addedRows, interfaceRows } from '../../contract/table.ts'
import { fill, pathOf } from '../../contract/world.ts'

export interface ComparedRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/**
 * Sends a request to both releases and compares the answers. Returns the id of the record in the answer of the older
 * one.
 */
export type Compare = (request: ComparedRequest) => Promise<string | null>

const listQueries = [
  '?per_page=2',
  '?per_page=2&page=2',
  '?rowCount=2&current=1&searchPhrase=a',
  '?sort=name&sortOrder=desc',
  '?sort=nothing',
  '?per_page=no'
]

/** Every kind of record is created, listed, read, changed, refused and deleted. */
export async function compareRecords(compare: Compare, station: string): Promise<void> {
  for (const [number, record] of resourceCases.entries()) {
    const n = 7_000 + number * 100
    const collection = pathOf(record.collection, station)
    const single = (id: string | null) => pathOf(record.single, station, id ?? 'none')
    const minimal = await compare({ method: 'POST', path: collection, body: fill(record.minimal, n) })
    const full = await compare({ method: 'POST', path: collection, body: fill(record.full, n + 1) })
    for (const query of ['', ...listQueries]) await compare({ method: 'GET', path: `${collection}${query}` })
    await compare({ method: 'GET', path: single(minimal) })
    for (const [index, [put]] of record.changes.entries()) {
      await compare({ method: 'PUT', path: single(full), body: fill(put, n + 2 + index) })
      await compare({ method: 'GET', path: single(full) })
    }
    await compare({ method: 'PUT', path: single(full), body: record.ignored })
    for (const [, , parts] of record.refused)
      await compare({ method: 'PUT', path: single(full), body: fill(parts, n) })
    for (const [field, values] of Object.entries(record.wrong))
      for (const value of values)
        await compare({
          method: 'POST',
          path: collection,
          body: { ...fill(record.minimal, n + 99), [field]: value }
        })
    await compare({ method: 'DELETE', path: single(minimal) })
    await compare({ method: 'GET', path: single(minimal) })
    await compare({ method: 'DELETE', path: single(full) })
  }
}

/** Every other operation of the contract; those that make a record are followed by those of the record. */
export async function compareOperations(compare: Compare, station: string): Promise<void> {
  const made = new Map<string, string | null>()
  const rows = [...interfaceRows, ...addedRows]
  const order = ['POST', 'GET', 'PUT', 'DELETE']
  for (const row of rows.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))) {
    // The records that others have made, or none.
    const path = pathOf(row.path, station, made.get(row.group) ?? '1')
    const id = await compare({ method: row.method, path, body: fill(row.body ?? null, 9_000) ?? undefined })
    if (row.method === 'POST' && id !== null) made.set(row.group, id)
  }
}

/** The reads of the older release's OpenAPI document, by id, short name and with the id of a record. */
export async function compareReads(
  compare: Compare,
  paths: readonly string[],
  stations: readonly string[],
  ids: Readonly<Record<string, string>>
): Promise<void> {
  for (const station of stations)
    for (const path of paths) {
      const filled = path
        .replace('{station_id}', station)
        .replace('/admin/station/{id}', `/admin/station/${station}`)
        .replaceAll(/([^/]+)\/\{[^}]+\}/g, (_, kind: string) => `${kind}/${ids[kind] ?? '1'}`)
      await compare({ method: 'GET', path: filled })
    }
}
