import { expect, onTestFinished } from 'vitest'

import type { Permission } from '../../src/api/auth/access.ts'
import type { StationState } from '../../src/model/station/state.ts'
import type { Trigger } from '../../src/model/station/triggers.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { deliverDue } from '../../src/webhooks/deliveries/deliver.ts'
import { openOutbox } from '../../src/webhooks/outbox.ts'
import { filterHookTriggers } from '../../src/webhooks/types/hook-types.ts'
import { serveApi } from './api-server.ts'
import { aStation, documented } from './builders.ts'
import { deliveryDeps } from './hooks.ts'
import { askPlainly, headersOf } from './plain-http.ts'
import type { JsonBody } from './program.ts'
import { seedStation } from './stations.ts'
import { startWebServer } from './web-server.ts'

export interface HookResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonBody
}

/** The id of the last event of the stage. */
let lastFact = 0

/**
 * The API with one playing station, and a receiver on 127.0.0.1 that web hooks may call. Deliveries are made
 * only by `deliver`.
 */
export async function openHookStage(
  sql: Sql,
  redisUrl: string,
  variables: Readonly<Record<string, string>> = {}
) {
  const api = await serveApi(sql, redisUrl, {
    variables: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', ...variables }
  })
  const stationId = await seedStation(sql)
  const state = aStation({ stationId, profile: { shortName: `hooks_${stationId}` } })
  await api.add(state)
  const key = await api.makeKey(['manage station web hooks'])
  const receiver = await startWebServer()
  onTestFinished(async () => receiver[Symbol.asyncDispose]())
  const secrets = openSecrets(Buffer.alloc(32))
  const parts = deliveryDeps(sql, { secrets, renderer: documented })

  async function askAs(as: string, method: string, path: string, body?: unknown): Promise<HookResponse> {
    const response = await askPlainly(`${api.base}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(as === '' ? {} : { 'X-API-Key': as }) },
      body: JSON.stringify(body)
    })
    return {
      status: response.status,
      headers: headersOf(response),
      body: JSON.parse(response.body.toString())
    }
  }

  const below = (path: string) => `/api/station/${stationId}/${path}`
  const ask = (method: string, path: string, body?: unknown) => askAs(key, method, below(path), body)

  return {
    sql,
    stationId,
    state,
    base: api.base,
    receiver,
    secrets,
    askAs,
    below,
    /** Calls a path of the station with a key that may manage its web hooks. */
    ask,
    makeKey: (permissions: readonly Permission[]) => api.makeKey(permissions),
    addStation: async (other: StationState) => api.add(other),
    /** Creates a web hook. Returns the response, which contains its signing secret. */
    make: async (body: object = {}): Promise<JsonBody> => {
      const made = await ask('POST', 'webhooks', {
        type: 'generic',
        name: 'Receiver',
        config: { webhook_url: `${receiver.url}/hook` },
        ...body
      })
      expect([made.status, made.body]).toEqual([200, expect.objectContaining({ id: expect.any(Number) })])
      return made.body
    },
    /** Writes events to the outbox, the first `agoMs` ago, a second apart. */
    raise: async (count = 1, { agoMs = 0, triggers = ['song_changed'] }: RaisedFacts = {}) => {
      const firstMs = Date.now() - agoMs
      for (let index = 0; index < count; index++) {
        const fact = {
          fact: `song:${(lastFact += 1)}`,
          triggers,
          happenedAtMs: firstMs + (agoMs === 0 ? 0 : index * 1_000)
        }
        await sql.begin(async tx => openOutbox(filterHookTriggers).writeEvent(tx, state, fact))
      }
    },
    /** Makes the due deliveries of a web hook, as a worker does. */
    deliver: async (hookId: number) => deliverDue(parts, hookId)
  }
}

interface RaisedFacts {
  readonly agoMs?: number
  readonly triggers?: readonly Trigger[]
}

export type HookStage = Awaited<ReturnType<typeof openHookStage>>

/** The value of a key in a list of `{key, value}`. */
export const valueOf = (list: readonly { key: string; value: unknown }[], name: string) =>
  list.find(each => each.key === name)?.value

/** The fields and codes of an error response. */
export const errorsOf = ({ body }: HookResponse): string[] =>
  body.extra_data.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)
