import { randomInt } from 'node:crypto'

import { describe, expect } from 'vitest'

import type { ApiKey } from '../../src/api/auth/key-checker.ts'
import { openAuthorizer } from '../../src/api/core/admission.ts'
import { parsePathId } from '../../src/api/core/parse.ts'
import type { ApiRequest } from '../../src/api/core/route.ts'
import { LiveStation } from '../../src/live/feed/live-station.ts'
import { ApiError } from '../../src/platform/runtime/errors.ts'
import {
  type AnyRoute,
  type CallerKind,
  everyCaller,
  everyRoute,
  expectedOutcome,
  isAboutStation,
  listsUnknownFields,
  nameOf,
  type Outcome,
  pathOf,
  typicalCallers,
  typicalRoutes,
  uncalled,
  unknownBodyOf,
  unknownFieldOf
} from '../support/access-matrix.ts'
import { aStation, documented } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly, headersOf } from '../support/plain-http.ts'
import { openPlayoutClient } from '../support/playout-client.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { isDeep, sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

test('routes that the matrix excludes exist', () => {
  const names = everyRoute.map(nameOf)
  for (const name of Object.keys(uncalled)) expect(names).toContain(name)
})

describe('every permission at every route', () => {
  test.for(everyCaller.map(caller => [caller.name, caller] as const))('%s', async ([, caller], { sql }) => {
    const rows = await sql<{ id: number }[]>`
      insert into stations (name, short_name, is_public)
      select name, name, name = 'open' from unnest(${['open', 'hidden', 'other']}::text[]) name returning id`
    const [open = 0, hidden = 0, other = 0] = rows.map(({ id }) => id)
    const { permissions } = caller
    const key: ApiKey = {
      id: 1,
      name: 'made',
      permissions: permissions?.everywhere ?? [],
      stationPermissions: {
        [open]: permissions?.own ?? [],
        [hidden]: permissions?.own ?? [],
        [other]: permissions?.other ?? []
      }
    }
    const isRemembered = new Set(
      [open, hidden].filter((_, index) => (everyCaller.indexOf(caller) & (1 << index)) > 0)
    )
    const authorize = openAuthorizer({
      keys: { findFrom: async () => key },
      // For some callers both are found in memory, for others one or both in Postgres.
      live: {
        find: name => {
          if (!isRemembered.has(Number(name))) return undefined
          const profile = { isPublic: Number(name) === open }
          return LiveStation.of(aStation({ stationId: parsePathId(String(name)), profile }), documented)
        }
      },
      sql
    })
    const authorised = async (route: AnyRoute, station: number): Promise<Outcome> => {
      const request: ApiRequest = {
        method: route.method,
        path: pathOf(route, station),
        params: { station_id: String(station) },
        query: new URLSearchParams(),
        body: undefined,
        apiKey: permissions === null ? '' : 'key',
        isOwnPage: false,
        host: '',
        address: String(randomInt(2 ** 40)),
        userAgent: '',
        caller: null,
        stream: null,
        headers: {},
        isOpen: () => true,
        onSettled: () => {}
      }
      const params = isAboutStation(route) ? request.params : {}
      try {
        await authorize({ ...request, params }, route)
        return 'allowed'
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.kind === 'not-logged-in') return 'key required'
        if (error.kind === 'not-found') return 'hidden'
        if (error.kind === 'forbidden') return 'refused'
        throw error
      }
    }
    // Handlers of public routes check access themselves: see the next test.
    const isTypical = typicalCallers.includes(caller)
    const routes = (isDeep || isTypical ? everyRoute : typicalRoutes).filter(
      ({ access }) => access !== 'public'
    )
    const stations = [
      [open, false],
      [hidden, true]
    ] as const
    const outcomes: [string, boolean, Outcome][] = []
    const expected: typeof outcomes = []
    for (const route of routes)
      for (const [station, isPrivate] of isAboutStation(route) ? stations : [stations[0]]) {
        outcomes.push([nameOf(route), isPrivate, await authorised(route, station)])
        expected.push([nameOf(route), isPrivate, expectedOutcome(route, caller, isPrivate)])
      }
    expect(outcomes).toEqual(expected)
  })
})

const matrix = test.extend('stations', { scope: 'file' }, ({ program }) => openStations(program))

describe('the running program at every route', { timeout: 120_000 }, () => {
  const callers = sized({ quick: typicalCallers, deep: everyCaller })

  const named = callers.map(caller => [caller.name, caller] as const)
  matrix.for(named)('%s', async ([, caller], { program, stations }) => {
    const key = await keyOf(program, caller, stations)
    const ask = (route: AnyRoute, station: string | number) =>
      send(program, route, station, { key, body: {} })
    await atEach(sized({ quick: typicalRoutes, deep: everyRoute }), async route => {
      const name = nameOf(route)
      const expected = expectedOutcome(route, caller, false)
      expect([name, outcomeOf(await ask(route, stations.open))]).toEqual([name, expected])
      if (!isAboutStation(route)) return
      const isHidden = expectedOutcome(route, caller, true) === 'hidden'
      if (isHidden || caller.permissions === null || route.access === 'playout key') {
        const [byName, byId] = [await ask(route, stations.hiddenName), await ask(route, stations.hidden)]
        expect([name, withoutName(byName, stations.hiddenName)]).toEqual([
          name,
          withoutName(await ask(route, stations.unknownName), stations.unknownName)
        ])
        expect([name, withoutName(byId, String(stations.hidden))]).toEqual([
          name,
          withoutName(await ask(route, unknownId), String(unknownId))
        ])
      } else {
        const response = await ask(route, stations.hiddenName)
        expect([name, outcomeOf(response)]).toEqual([name, expectedOutcome(route, caller, true)])
      }
    })
  })

  test('every write that is allowed lists unknown fields, with any status', async ({ program }) => {
    const station = await seedStation(program.sql)
    const playout = await openPlayoutClient(program)
    await atEach(everyRoute.filter(listsUnknownFields), async route => {
      const isOfPlayout = route.access === 'playout key'
      const response = await send(program, route, isOfPlayout ? playout.id : station, {
        key: isOfPlayout ? playout.key : adminKey,
        body: unknownBodyOf(route),
        isOwnPage: true
      })
      const found = [nameOf(route), outcomeOf(response), response.headers['x-ignored-fields']]
      expect(found).toEqual([nameOf(route), 'allowed', unknownFieldOf(route)])
    })
  })
})

/** Calls a function with each route that the matrix can call. */
async function atEach(routes: readonly AnyRoute[], check: (route: AnyRoute) => Promise<void>): Promise<void> {
  const called = routes.filter(route => !(nameOf(route) in uncalled))
  // Several at a time: beside other tests most of a call is waiting.
  for (let at = 0; at < called.length; at += atOnce)
    await Promise.all(called.slice(at, at + atOnce).map(check))
}

interface Sent {
  readonly key: string
  /** Of a write. */
  readonly body: object
  /** Whether it has the header of the pages of this server. */
  readonly isOwnPage?: boolean
}

/** Calls a route about a station. */
async function send(
  { baseUrl }: Program,
  route: AnyRoute,
  station: string | number,
  { key, body, isOwnPage = false }: Sent
): Promise<CallResult> {
  const response = await askPlainly(baseUrl + pathOf(route, station), {
    method: route.method,
    headers: {
      'Content-Type': 'application/json',
      ...(key === '' ? {} : { 'X-API-Key': key }),
      ...(isOwnPage ? { 'X-Requested-With': 'test' } : {}),
      // Requests for songs and wrong keys are limited by address.
      'X-Forwarded-For': `198.18.${randomInt(256)}.${randomInt(256)}`
    },
    body: ['POST', 'PUT'].includes(route.method) ? JSON.stringify(body) : undefined
  })
  const text = response.body.toString()
  const isJson = text !== '' && response.headers['content-type']?.startsWith('application/json')
  return {
    status: response.status,
    headers: comparable(headersOf(response)),
    body: isJson ? JSON.parse(text) : text
  }
}

/** Concurrent calls of the matrix. */
const atOnce = 6

const unknownId = 987_654_321

/** A public and a private station, another private one, and an unknown name. */
async function openStations(program: Program) {
  const { open, hidden, other } = await program.sql.begin(async tx => {
    const made = { open: await seedStation(tx), hidden: randomInt(1e8, 9e8), other: await seedStation(tx) }
    // As many digits as the unknown id, so that responses have the same length and contain the id only where
    // they name it.
    await tx`insert into stations (id, name, short_name) overriding system value
      values (${made.hidden}, 'Hidden', ${`hidden_${made.hidden}`})`
    await tx`update stations set is_public = false where id in ${tx([made.hidden, made.other])}`
    return made
  })
  const hiddenName = `hidden_${hidden}`
  await waitFor(
    async () => {
      const shown = await Promise.all(
        [open, hidden, other].map(async id => (await program.ask('GET', `/api/station/${id}`)).status)
      )
      return shown.every(status => status === 200)
    },
    { deadlineMs: 10_000, what: 'the stations to be shown' }
  )
  const unknownName = `absent_${hidden}`
  return { open, hidden, other, hiddenName, unknownName }
}

async function keyOf(
  { ask }: Program,
  { permissions }: CallerKind,
  { open, hidden, other }: { readonly open: number; readonly hidden: number; readonly other: number }
): Promise<string> {
  if (permissions === null) return ''
  const { everywhere = [], own = [], other: elsewhere = [] } = permissions
  const { status, body } = await ask('POST', '/api/v1/main/api-keys', {
    body: {
      name: 'matrix',
      permissions: everywhere,
      station_permissions: [
        { station: open, permissions: own },
        { station: hidden, permissions: own },
        { station: other, permissions: elsewhere }
      ].filter(entry => entry.permissions.length > 0)
    }
  })
  if (status !== 200) throw new Error(`no key was made: ${JSON.stringify(body)}`)
  return body.key
}

interface CallResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonBody
}

function outcomeOf({ status, body }: CallResult): Outcome {
  // What the program cannot do is answered without a key.
  if (status === 501) return 'allowed'
  if (status === 429 || status >= 500) throw new Error(`${status}: ${JSON.stringify(body)}`)
  if (status !== 403) return 'allowed'
  if (body.type === 'NotLoggedInException') return 'key required'
  if (body.type === 'PermissionDeniedException') return 'refused'
  throw new Error(`403: ${JSON.stringify(body)}`)
}

/** Headers that may differ between two responses to the same request. */
const varying = new Set(['date', 'x-request-id'])

function comparable(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !varying.has(name)))
}

function withoutName(response: CallResult, name: string): unknown {
  return JSON.parse(JSON.stringify(response).replaceAll(name, '*'))
}
