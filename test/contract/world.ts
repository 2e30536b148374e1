import { randomInt } from 'node:crypto'

import { startSeeded } from '../support/playing.ts'
import type { Program } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import type { Call } from './calls.ts'
import { addedRows, type Body, interfaceRows, type Row } from './table.ts'

export interface Station {
  readonly id: number
  readonly shortName: string
}

/** Two stations that play songs of ten minutes. */
export async function openStations(program: Program, call: Call): Promise<[Station, Station]> {
  const seeded = await seedStations(program.sql, { stations: 2, songMs: 600_000, queueLength: 5 })
  const [one, other] = await Promise.all(
    seeded.map(async ({ id }) => {
      await startSeeded(program, id)
      const playing = await waitFor(
        async () => {
          const { status, body } = await call('GET', `/api/nowplaying/${id}`, { key: '' })
          return status === 200 && body.is_online && body.playing_next !== null && body
        },
        { deadlineMs: 15_000, what: `station ${id} to play` }
      )
      return { id, shortName: String(playing.station.shortcode) }
    })
  )
  if (!one || !other) throw new Error('no stations were made')
  return [one, other]
}

let lastNumber = randomInt(100_000) * 1_000

/** Replaces every `{n}` in a value by a number, by default a new one. */
export function fill<Value>(value: Value, n: number = (lastNumber += 1)): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('{n}', String(n)))
}

/**
 * The parameter of a path that identifies a record, if any: `id`, `key`, `article_id` or `notification_id`.
 */
export const recordParameter = (path: string): string | undefined =>
  /\{(id|key|article_id|notification_id)\}/.exec(path)?.[1]

/** A path with its parameters: the station and, if it identifies one, the record. */
export function pathOf(path: string, station: string | number, record: string | number = ''): string {
  return path
    .replace('{station_id}', String(station))
    .replace(/\{(id|key|article_id|notification_id)\}/, String(record))
}

/** How a response with a new record contains its id in paths, by group. */
const nameOf: Record<string, (body: Record<string, Record<string, unknown>>) => unknown> = {
  'API keys': body => body['api_key']?.['identifier'],
  news: body => body['article']?.['article_id'],
  notifications: body => body['notification']?.['notification_id']
}

const rows = [...interfaceRows, ...addedRows]

/** Creates the record for a row about a single record. Returns its id in the path. */
export async function makeRecord(call: Call, row: Row, station: Station): Promise<string> {
  if (row.group === 'queue') return lastInQueue(call, station)
  const create = rows.find(
    ({ group, method, path }) => group === row.group && method === 'POST' && !recordParameter(path)
  )
  if (!create) throw new Error(`${row.group}: no row makes a record`)
  const made = await call('POST', pathOf(create.path, station.id), { body: fill(create.body) })
  const name = made.status === 200 ? (nameOf[row.group]?.(made.body) ?? made.body.id) : undefined
  if (name === undefined)
    throw new Error(
      `${create.method} ${create.path} made no record: ${made.status} ${JSON.stringify(made.body)}`
    )
  return String(name)
}

async function lastInQueue(call: Call, station: Station): Promise<string> {
  const item = await waitFor(
    async () => {
      const { body } = await call('GET', `/api/station/${station.id}/queue`)
      return body.at(-1)
    },
    { deadlineMs: 5_000, what: 'a song in the queue' }
  )
  return new URL(item.links.self).pathname.split('/').at(-1) ?? ''
}

/** The filled body of a row; undefined if it has none. */
export const bodyOf = (row: Row): Body | undefined => (row.body === undefined ? undefined : fill(row.body))
