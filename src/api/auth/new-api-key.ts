import * as v from 'valibot'

import {
  choiceField,
  validatedField,
  integerField,
  listField,
  formatCheckMessage,
  textField,
  type ValuesOf
} from '../../model/fields/field.ts'
import { bodyValidator } from '../../model/fields/validators.ts'
import { dialectNames } from '../../model/station/dialect.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoFieldErrors, fieldError } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { findStationsByName } from '../core/find-station.ts'
import { maxUnixSecond } from '../core/moments.ts'
import { parseBody } from '../core/parse.ts'
import type { ApiRequest } from '../core/route.ts'
import {
  globalPermissions,
  mayGrantAll,
  maySeeStation,
  type Permission,
  stationPermissions
} from './access.ts'
import type { NewApiKey } from './key-checker.ts'

/** A list of permissions without duplicates. */
function permissionList(names: readonly [Permission, ...Permission[]], about: string) {
  const permission = choiceField(names, { about })
  const list = listField(permission.input, { max: 100, items: permission.schema, about })
  const input = v.pipe(
    list.input,
    v.transform(permissions => [...new Set(permissions)])
  )
  return { ...list, input }
}

const stationSchema = {
  type: ['integer', 'string'],
  description: 'The id or short name of the station.'
} as const
const stationName = v.pipe(
  v.union(
    [v.number(), v.string()],
    formatCheckMessage('invalid_type', 'must be the id of a station or its short name.')
  ),
  v.transform(String)
)
const ofStation = {
  station: validatedField(stationName, { schema: stationSchema, about: stationSchema.description }),
  permissions: permissionList(stationPermissions, 'Permissions for the station.')
}

/** The fields of a new key. */
export const newApiKeyFields = {
  name: textField({ min: 1, max: 200, isTrimmed: true, about: 'Shown to operators.', example: 'Website' }),
  permissions: permissionList(globalPermissions, 'Permissions for the installation and all stations.'),
  station_permissions: listField(bodyValidator(ofStation), {
    max: 1_000,
    items: {
      type: 'object',
      properties: { station: stationSchema, permissions: ofStation.permissions.schema },
      required: ['station']
    },
    about: 'Permissions for single stations.'
  }),
  expires_at: integerField({ min: 0, max: maxUnixSecond, fallback: 0, about: 'Unix seconds; 0: never.' }),
  dialect: choiceField(['', ...dialectNames], {
    fallback: '',
    about: 'How requests with the key are answered; empty: as those of the installation.'
  })
}
const newKeyBodyValidator = bodyValidator(newApiKeyFields)

/**
 * Parses the body for a new key. Throws 400 with all problems, and 403 for permissions that the caller cannot
 * grant.
 */
export async function validateNewApiKey(sql: Sql, request: ApiRequest): Promise<NewApiKey> {
  const body = parseBody(newKeyBodyValidator, request.body)
  const stationIds = await findStationIds(sql, request, body)
  const byStation = body.station_permissions.map(
    ({ permissions }, index) => [stationIds[index] ?? 0, permissions] as const
  )
  const grants = { permissions: body.permissions, stationPermissions: Object.fromEntries(byStation) }
  const caller = request.caller?.key
  if (!caller || !mayGrantAll(caller, grants)) throw new ApiError('forbidden')
  const expiresAt = body.expires_at === 0 ? null : new Date(body.expires_at * 1000)
  return { name: body.name, ...grants, expiresAt, dialect: body.dialect || null }
}

/** Finds the stations of a body, in its order. Throws 400 with the problems of stations and expiry. */
async function findStationIds(
  sql: Sql,
  { caller }: ApiRequest,
  { station_permissions: byStation, expires_at: expiresAt }: ValuesOf<typeof newApiKeyFields>
): Promise<number[]> {
  const names = byStation.map(({ station }) => station)
  const stations = await findStationsByName(sql, names)
  const found = names.map(name => {
    const station = stations.get(name)
    return station && maySeeStation(caller?.key ?? null, station) ? station.id : undefined
  })
  const problems = found.flatMap((id, index) => {
    const field = `station_permissions.${index}.station`
    if (id === undefined) return [fieldError(field, 'not_found', 'is no station.')]
    if (found.indexOf(id) === index) return []
    return [fieldError(field, 'duplicate', 'is named twice.')]
  })
  if (expiresAt !== 0 && expiresAt * 1000 <= engineTimeMs())
    problems.push(fieldError('expires_at', 'out_of_range', 'is in the past.'))
  assertNoFieldErrors(problems)
  return found.map(id => id ?? 0)
}
