import * as v from 'valibot'

import type { Sql } from '../../db/sql.ts'
import { choice, custom, integer, listOf, problem, text, type ValuesOf } from '../../fields/field.ts'
import { formOf } from '../../fields/form.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError, type FieldError } from '../../runtime/errors.ts'
import { parseBody } from '../core/parse.ts'
import type { ApiRequest } from '../core/route.ts'
import { globalPermissions, mayGrant, maySeeStation, type Permission, stationPermissions } from './access.ts'
import type { NewKey } from './keys.ts'

/** The last second of the year 9999. */
const lastSecond = 253_402_300_799

/** A list of rights, each at most once. */
function rightsOf(names: readonly Permission[], about: string) {
  const [first, ...others] = names
  if (!first) throw new Error('no rights to choose from')
  const right = choice([first, ...others], { about })
  const list = listOf(right.input, { max: 100, items: right.schema, about })
  return {
    ...list,
    input: v.pipe(
      list.input,
      v.transform(rights => [...new Set(rights)])
    )
  }
}

const rightsOfStation = rightsOf(stationPermissions, 'What the key may do there.')
const stationRights = formOf({
  station: custom(
    v.pipe(
      v.union(
        [v.number(), v.string()],
        problem('invalid_type', 'must be the id of a station or its short name.')
      ),
      v.transform(String)
    ),
    { schema: { type: ['integer', 'string'] }, about: 'The id of the station, or its short name.' }
  ),
  permissions: rightsOfStation
})

/** What a body says of a new key. */
export const newKeyFields = {
  name: text({ min: 1, max: 200, isTrimmed: true, about: 'What operators read.', example: 'Website' }),
  permissions: rightsOf(globalPermissions, 'What the key may do on all stations and the installation.'),
  station_permissions: listOf(stationRights, {
    max: 1_000,
    items: {
      type: 'object',
      properties: {
        station: { type: ['integer', 'string'], description: 'The id of the station, or its short name.' },
        permissions: rightsOfStation.schema
      },
      required: ['station']
    },
    about: 'What it may do on single stations.'
  }),
  expires_at: integer({
    min: 0,
    max: lastSecond,
    fallback: 0,
    about: 'Unix seconds from which on it is refused; 0: never.'
  })
}
const form = formOf(newKeyFields)
type Asked = ValuesOf<typeof newKeyFields>

/**
 * Reads the key that a body asks for, and the names of the fields that say something. Throws a 400 that lists
 * every problem, and 403 for rights that the caller does not hold.
 */
export async function parseNewKey(
  sql: Sql,
  request: ApiRequest
): Promise<{ readonly key: NewKey; readonly fields: readonly string[] }> {
  const asked = parseBody(form, request.body)
  const stationIds = await findStations(sql, request, asked)
  const byStation = asked.station_permissions.map(({ permissions }, index) => ({
    stationId: stationIds[index] ?? 0,
    permissions
  }))
  refuseGrants(request, asked.permissions, byStation)
  const key: NewKey = {
    name: asked.name,
    permissions: asked.permissions,
    stationPermissions: Object.fromEntries(byStation.map(each => [each.stationId, each.permissions])),
    expiresAt: asked.expires_at === 0 ? null : new Date(asked.expires_at * 1000)
  }
  const said = Object.entries(asked).filter(([, value]) => isSaid(value))
  return { key, fields: said.map(([name]) => name) }
}

const isSaid = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== 0)

/** The ids of the stations that a body names, in its order. Throws a 400 for what can be no key's. */
async function findStations(
  sql: Sql,
  { caller }: ApiRequest,
  { station_permissions: asked, expires_at: expiresAt }: Asked
) {
  const given = asked.map(({ station }) => station)
  const ids = given.map(Number).filter(id => Number.isSafeInteger(id))
  const shortNames = given.filter(name => !name.includes('\0'))
  const rows =
    given.length === 0
      ? []
      : await sql<{ id: number; shortName: string; isPublic: boolean }[]>`
          select id, short_name as "shortName", is_public as "isPublic" from stations
          where (id = any(${ids}::bigint[]) or short_name = any(${shortNames}::text[])) and deleted_at is null`
  // A short name is never all digits, so that no station is found under another one's id.
  const idOf = new Map(
    rows
      .filter(station => maySeeStation(caller?.key ?? null, station))
      .flatMap(({ id, shortName }) => [[String(id), id] as const, [shortName, id] as const])
  )
  const found = given.map(name => idOf.get(name))
  const problems = found.flatMap((id, index): FieldError[] => {
    const field = `station_permissions.${index}.station`
    if (id === undefined) return [{ field, code: 'not_found', message: `${field} is no station.` }]
    if (found.indexOf(id) === index) return []
    return [{ field, code: 'duplicate', message: `${field} is named twice.` }]
  })
  if (expiresAt !== 0 && expiresAt * 1000 <= engineTimeMs())
    problems.push({ field: 'expires_at', code: 'out_of_range', message: 'expires_at is in the past.' })
  const [first, ...others] = problems
  if (first) throw ApiError.ofFields([first, ...others])
  return found.map(id => id ?? 0)
}

/** Nobody gives away more than they hold. */
function refuseGrants(
  { caller }: ApiRequest,
  permissions: readonly Permission[],
  byStation: readonly { readonly stationId: number; readonly permissions: readonly Permission[] }[]
): void {
  const key = caller?.key ?? null
  const isHeld = (permission: Permission, stationId: number | null) =>
    key !== null && mayGrant(key, permission, stationId)
  const isAllowed =
    permissions.every(permission => isHeld(permission, null)) &&
    byStation.every(each => each.permissions.every(permission => isHeld(permission, each.stationId)))
  if (!isAllowed) throw new ApiError('forbidden')
}
