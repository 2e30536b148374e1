import { createHash, randomBytes } from 'node:crypto'

import * as v from 'valibot'

import { beginForStation } from '../../db/begin-for-station.ts'
import type { JsonSchema } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import {
  type ApiRequest,
  type ApiRoute,
  json,
  type Operation,
  type Reply,
  stationOf,
  type StationRow
} from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

/** What a playout sends: texts, whatever they look like. */
export type PlayoutBody = Readonly<Record<string, string>>

/** What is sent by a station's playout, which has proven that it is. */
export interface PlayoutCall {
  readonly station: StationRow
  readonly body: PlayoutBody
  readonly request: ApiRequest
}

export interface PlayoutAction {
  readonly name: string
  readonly summary: string
  /** What the body may hold, all texts. */
  readonly body: Readonly<Record<string, string>>
  readonly answer: JsonSchema
  readonly errors?: readonly number[]
  readonly handle: (call: PlayoutCall, services: ApiServices) => Promise<Reply>
}

/**
 * The two routes of an action of the playout's API: POST with a JSON body, and GET with a query. They require
 * the key of the station's own playout in `X-Liquidsoap-Api-Key`; no operator's key is accepted.
 */
export function playoutRoutesOf({ name, summary, body, answer, errors, handle }: PlayoutAction): ApiRoute[] {
  const properties = Object.fromEntries(
    Object.entries(body).map(([field, description]) => [field, { type: 'string', description }])
  )
  const operation = { tag: 'Playout', summary, answer, errors: errors ?? [] } satisfies Partial<Operation>
  const id = `playout${name[0]?.toUpperCase()}${name.slice(1)}`
  const path = `/api/internal/:station_id/liquidsoap/${name}`
  return [
    {
      method: 'POST',
      path,
      access: 'playout key',
      operation: { ...operation, id, body: { type: 'object', properties } },
      handle: async (request, services) =>
        handle({ station: stationOf(request), body: parseBody(texts, request.body), request }, services)
    },
    {
      method: 'GET',
      path,
      access: 'playout key',
      operation: { ...operation, id: `${id}ByGet`, query: properties },
      handle: async (request, services) =>
        handle(
          { station: stationOf(request), body: parseBody(texts, Object.fromEntries(request.query)), request },
          services
        )
    }
  ]
}

const longest = 4_096

/**
 * Playouts send numbers as texts and texts that look like numbers; what is longer than any of them is cut.
 */
const texts = v.record(
  v.string(),
  v.pipe(
    v.unknown(),
    v.transform(value =>
      (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : ''
      )
        .slice(0, longest)
        .replace(/\0|\p{Surrogate}/gu, '')
    )
  ),
  'must be an object.'
)

/** A number out of a text: null for anything but one of a row or record. */
export function idOf(text: string | undefined): number | null {
  const id = /^[1-9]\d{0,18}$/.test(text ?? '') ? Number(text) : NaN
  return Number.isSafeInteger(id) ? id : null
}

const longestAgo = 86_400

/**
 * When something happened that was `ago` seconds ago: Unix milliseconds. A clock that was set may make it
 * less than 0. Throws a 400.
 */
export function reportedTime(ago: string | undefined, nowMs: number): number {
  const text = ago ?? '0'
  const seconds = /^-?\d{1,9}(\.\d{0,9})?$/.test(text) ? Number(text) : NaN
  if (seconds <= longestAgo) return Math.round(nowMs - Math.max(0, seconds) * 1000)
  const message = `ago must be a number of seconds up to ${longestAgo}.`
  throw ApiError.ofFields([{ field: 'ago', code: 'out_of_range', message }])
}

/** What is kept of a playout's key. */
export function playoutKeyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The schema of what is answered. */
export const playoutKeySchema = exactly({
  success: { type: 'boolean' },
  message: { type: 'string' },
  formatted_message: { type: 'string', description: 'HTML' },
  playout_key: { type: 'string', description: 'The new key; it is shown here only.' }
})

const message = 'The playout key was replaced.'

const replace: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/playout-key',
  access: 'manage station broadcasting',
  operation: {
    id: 'replacePlayoutKey',
    tag: 'Playout',
    summary: 'Make the key that the playout of a station calls with; the former one fits no longer',
    answer: { $ref: '#/components/schemas/PlayoutKey' }
  },
  async handle(request, { sql }) {
    const { id } = stationOf(request)
    const key = randomBytes(24).toString('hex')
    await beginForStation(sql, id, async tx => {
      await tx`update stations set playout_key = ${playoutKeyHash(key)} where id = ${id}`
      await recordAudit(tx, request, { record: 'Station', id, fields: ['playout_key'] })
    })
    return json({ success: true, message, formatted_message: message, playout_key: key })
  }
}

export const playoutKeyRoutes = [replace]
