import { createHash, randomBytes } from 'node:crypto'

import * as v from 'valibot'

import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import { actionRoute } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import {
  actionResultFields,
  type ApiRequest,
  type ApiRoute,
  apiRoute,
  jsonReply,
  type ApiOperation,
  getRequestStation,
  type PathStation
} from '../core/route.ts'
import { actionResultSchema, namedSchema } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

/** An authenticated request of a station's playout. */
interface PlayoutCall {
  readonly station: PathStation
  /** All values are text. */
  readonly body: Readonly<Record<string, string>>
  readonly request: ApiRequest
}

interface PlayoutAction {
  readonly name: string
  readonly summary: string
  /** Descriptions of the fields. */
  readonly body: Readonly<Record<string, string>>
  readonly response: JsonSchema
  readonly errors?: readonly number[]
  readonly handle: (call: PlayoutCall, services: ApiServices) => Promise<Reply>
}

/**
 * Defines the two routes of an action of the playout API: POST with a JSON body, and GET with a query. They
 * require the station's playout key in `X-Liquidsoap-Api-Key`; API keys are not accepted.
 */
export function definePlayoutRoutes(action: PlayoutAction): ApiRoute[] {
  const { name, summary, body, response, errors = [], handle } = action
  const properties = Object.fromEntries(
    Object.entries(body).map(([field, description]) => [field, { type: 'string', description }])
  )
  const id = `playout${name[0]?.toUpperCase()}${name.slice(1)}`
  const route = (
    method: 'GET' | 'POST',
    operation: Pick<ApiOperation, 'id' | 'body' | 'query'> & { readonly takesForm?: true },
    input: (request: ApiRequest) => unknown
  ) =>
    apiRoute(method, `/api/internal/:station_id/liquidsoap/${name}`, 'playout key', {
      tag: 'Playout',
      summary,
      response,
      errors,
      ...operation,
      handle: async (request, services) =>
        handle(
          { station: getRequestStation(request), body: parseBody(texts, input(request)), request },
          services
        )
    })
  return [
    route('POST', { id, body: { type: 'object', properties }, takesForm: true }, request => request.body),
    route('GET', { id: `${id}ByGet`, query: properties }, request => Object.fromEntries(request.query))
  ]
}

const maxTextLength = 4_096

/** Converts values to text, truncated to `maxTextLength`. Playouts send numbers as text and the reverse. */
const texts = v.record(
  v.string(),
  v.pipe(
    v.unknown(),
    v.transform(value => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '')),
    v.transform(value => withoutLostCharacters(value.slice(0, maxTextLength)).replaceAll('\0', ''))
  ),
  'must be an object.'
)

/** Returns the id of a row in a text, or null if the text is not an id. */
export function parseRowId(text: string | undefined): number | null {
  const id = /^[1-9]\d{0,18}$/.test(text ?? '') ? Number(text) : NaN
  return Number.isSafeInteger(id) ? id : null
}

const maxAgoSeconds = 86_400

/**
 * Returns the time `ago` seconds before `nowMs`, in Unix milliseconds. A negative `ago`, sent after a clock
 * was changed, counts as 0. Throws 400 if it is not a number, or too large.
 */
export function parseReportedTime(ago: string | undefined, nowMs: number): number {
  const text = ago ?? '0'
  const seconds = /^-?\d{1,9}(\.\d{0,9})?$/.test(text) ? Number(text) : NaN
  if (seconds <= maxAgoSeconds) return Math.round(nowMs - Math.max(0, seconds) * 1000)
  return refuseField('ago', 'out_of_range', `must be a number of seconds up to ${maxAgoSeconds}.`)
}

/** Returns the stored hash of a playout key. */
export function hashPlayoutKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

const playoutKeySchema = namedSchema(
  'PlayoutKey',
  'A new key of the playout of a station.',
  actionResultSchema({
    playout_key: { type: 'string', description: 'The new key. It is not shown again.' }
  })
)

export const playoutKeyRoute = actionRoute(
  'POST',
  '/api/station/:station_id/playout-key',
  'manage station broadcasting',
  {
    id: 'replacePlayoutKey',
    tag: 'Playout',
    summary: 'Replace the key of the playout of a station; the former key is rejected',
    response: playoutKeySchema,
    prepare: request => async tx => {
      const { id } = getRequestStation(request)
      const key = randomBytes(24).toString('hex')
      await tx`update stations set playout_key = ${hashPlayoutKey(key)} where id = ${id}`
      return {
        audit: [{ record: 'Station', id, changes: changedWithoutValues('playout_key') }],
        reply: jsonReply({ ...actionResultFields('The playout key was replaced.'), playout_key: key })
      }
    }
  }
)
