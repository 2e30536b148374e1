import { scalarToText } from '../../../src/commands/from-azuracast/source.ts'
import type { Program } from '../program.ts'
import { newestPlay } from './installation.ts'
import { isExplained } from './known-differences.ts'
import { type RecordList, type RecordType, toObject } from './record-lists.ts'
import { recordTypes } from './record-types.ts'
import type { Row, World } from './world.ts'

/** What a comparison found. */
export interface Comparison {
  /** By `table.column`, each with an example. */
  readonly differences: ReadonlyMap<string, string>
  /** In the order of the record types. */
  readonly types: readonly ComparedType[]
}

/** The lists of a record type. */
interface ComparedType {
  readonly table: string
  readonly lists: number
  readonly records: number
  readonly values: number
  readonly seconds: number
}

/** Compares the answers of a program with those that AzuraCast would make of its rows, value by value. */
export async function compareResponses(program: Program, world: World): Promise<Comparison> {
  const differences = new Map<string, string>()
  const types: ComparedType[] = []
  for (const type of recordTypes) {
    const startedMs = performance.now()
    let [lists, records, values] = [0, 0, 0]
    for (const list of type.lists(world)) {
      const compared = await compareList(program, type, list, differences)
      lists += 1
      records += compared.records
      values += compared.values
    }
    types.push({
      table: type.table,
      lists,
      records,
      values,
      seconds: (performance.now() - startedMs) / 1_000
    })
  }
  return { differences, types }
}

async function compareList(
  program: Program,
  type: RecordType,
  list: RecordList,
  differences: Map<string, string>
) {
  const { table } = type
  const responses = new Map<string, Row>()
  for (const response of await readAll(program, list)) {
    const record = type.toRecord?.(response) ?? response
    responses.set(keyOf(type, record, type.id), record)
  }
  const note = (name: string, example: string) => {
    if (!differences.has(name)) differences.set(name, `${list.path}: ${example}`)
  }
  const planned = type.mayLackQueued ? await readPlanned(program, list) : new Set<string>()
  const expected: string[] = []
  let [records, values] = [0, 0]
  for (const row of list.rows) {
    const key = keyOf(type, row)
    if (planned.has(key)) continue
    expected.push(key)
    const response = responses.get(key)
    if (!response) {
      note(`${table}: record left out`, JSON.stringify(row))
      continue
    }
    records += 1
    for (const [name, ours, theirs] of pairValues(type, row, response)) {
      values += 1
      if (ours === theirs) continue
      const suffix = isExplained(name, ours, theirs, row) ? '' : ': not as documented'
      note(`${name}${suffix}`, `${ours} instead of ${theirs}`)
    }
  }
  const known = new Set(expected)
  // When the AutoDJ has planned the last song of a pass, the next pass begins.
  const isNewPass = type.mayLackQueued && expected.length === 0
  const others = [...responses.keys()].filter(key => !known.has(key) && !planned.has(key) && !isNewPass)
  if (others.length > 0 && !type.hasOthers) note(`${table}: other record`, others[0] ?? '')
  if (list.order !== undefined) {
    const order = [...responses.keys()].filter(key => known.has(key))
    const expectedOrder = expected.filter(key => responses.has(key))
    if (order.join() !== expectedOrder.join())
      note(`${table}: ${list.order}`, `${order.join()} instead of ${expectedOrder.join()}`)
  }
  return { records, values }
}

/** The values of a record that both have, by `table.column`. */
function* pairValues(
  { table, names, inside, innerTable = table, delays, keys, hidden }: RecordType,
  row: Row,
  response: Row
): Generator<[name: string, ours: string, theirs: string]> {
  for (const [column, value] of Object.entries(row)) {
    const name = names?.[column] ?? column
    const holder = inside?.[column]
    const owner = holder === undefined ? response : toObject(response[holder])
    const isComputed = column === 'display_name' && value === ''
    const isHidden =
      secrets.has(column) || hidden?.includes(column) || (column === 'id' && keys !== undefined)
    if (!(name in owner) || isHidden || isComputed) continue
    const from = holder === undefined ? table : innerTable
    yield [`${from}.${column}`, normalize(owner[name]), normalize(value, delays?.[column])]
  }
}

/** Columns that AzuraCast does not show either. */
const secrets = new Set(['auth_password', 'two_factor_secret', 'streamer_password', 'password'])

const keyOf = ({ keys }: RecordType, record: Row, id = 'id'): string =>
  keys === undefined ? scalarToText(record[id]) : keys.map(name => scalarToText(record[name])).join(' ')

/** The songs of a station that the AutoDJ has in its queue or has played since the migration. */
async function readPlanned({ sql }: Program, { stationId = 0 }: RecordList): Promise<Set<string>> {
  const rows = await sql<{ id: number }[]>`
    select media_id as id from queue where station_id = ${stationId}
    union select media_id from song_history
      where station_id = ${stationId} and media_id is not null and started_at_ms > ${newestPlay * 1_000 + 60_000}`
  return new Set(rows.map(({ id }) => String(id)))
}

const pageSize = 2_000

async function readAll(program: Program, list: RecordList): Promise<Row[]> {
  const { path, apiKey: key, from, toRecords } = list
  const options = { ...(key !== undefined && { key }), ...(from !== undefined && { from }) }
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const paging = `${path.includes('?') ? '&' : '?'}per_page=${pageSize}&page=${page}`
    const { status, body } = await program.ask('GET', toRecords ? path : path + paging, options)
    if (status === 404 && list.isAbsentAllowed) return []
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
    if (toRecords) return [...toRecords(body)]
    if (Array.isArray(body)) return body
    rows.push(...body.rows)
    if (page >= body.total_pages) return rows
  }
}

/** Unset values are alike, and numbers, flags and times as JSON or as a database has them. */
function normalize(value: unknown, delay = 0): string {
  if (value === null || value === undefined || value === '' || value === false) return '0'
  if (value === true) return '1'
  if (value instanceof Date) return String(Math.floor(value.getTime() / 1_000) + delay)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return normalize(new Date(value))
  if (Array.isArray(value))
    return (
      value
        .filter(each => each !== '')
        .map(each => normalize(each))
        .join(',') || '0'
    )
  if (typeof value !== 'object') return scalarToText(value)
  const members = Object.entries(value)
    .map(([name, member]) => [name, normalize(member)] as const)
    .filter(([, member]) => member !== '0')
  return members.length === 0
    ? '0'
    : JSON.stringify(Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}
