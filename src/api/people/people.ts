import * as v from 'valibot'

import { validatedField, flagField, integerField, listField, textField } from '../../model/fields/field.ts'
import {
  ApiError,
  assertNoFieldErrors,
  errorCodeOf,
  type FieldError,
  fieldError
} from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { type Grants, mayGrantAll, maySeeStation } from '../auth/access.ts'
import { combineRoleGrants, type UserGrantRow } from '../auth/user-grants.ts'
import type { ActionResult } from '../core/actions.ts'
import { findUnknownElements } from '../core/parse.ts'
import type { ApiRequest } from '../core/route.ts'
import { arrayOf, exactObject, int64, string, unixSeconds } from '../core/schemas.ts'

// What the routes of users, roles and invitations have in common.

/** The permission to manage people. Beyond it, nobody grants or takes more than they have. */
export const peopleAccess = 'administer settings'
export const peopleTag = 'People'

const id = integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'An id.' })

/** The id of a role, or a role with its id. */
const roleId = v.pipe(
  v.unknown(),
  v.transform(role => (typeof role === 'object' && role !== null && 'id' in role ? role.id : role)),
  id.input
)

/** The fields that say what a user may do. */
export const grantFields = {
  roles: listField(roleId, {
    max: 20,
    items: { anyOf: [id.schema, { type: 'object', properties: { id: id.schema, name: string } }] },
    about: 'Ids of roles, or roles as a record contains them. Their permissions add up.'
  }),
  stations: listField(id.input, {
    max: 1_000,
    items: id.schema,
    about: 'Ids of the stations that the roles are limited to; empty: not limited.'
  })
}

/** The schemas of these fields in a response. */
export const grantSchemas = {
  roles: arrayOf(exactObject({ id: int64, name: string })),
  stations: {
    ...arrayOf(int64),
    description: 'The stations that the roles are limited to; empty: not limited.'
  }
}

/** A role of a user or an invitation. */
export interface NamedRole {
  readonly id: number
  readonly name: string
}

/** A user as other records contain it. */
export const userSummarySchema = exactObject({
  id: int64,
  email: string,
  name: string,
  auth_password: { ...string, const: '', description: 'Write-only: reads "".' },
  locale: { type: ['string', 'null'] },
  show_24_hour_time: { type: ['boolean', 'null'] },
  two_factor_secret: { type: 'null', description: 'There are passkeys instead.' },
  created_at: unixSeconds,
  updated_at: unixSeconds,
  roles: grantSchemas.roles
})

/** The summary of the user `u` of a statement. */
export const userSummaryFragment = (sql: Sql | Tx): Fragment => sql`
  jsonb_build_object(
    'id', u.id, 'email', u.email, 'name', u.name, 'auth_password', '', 'locale', u.locale,
    'show_24_hour_time', u.show_24_hour_time, 'two_factor_secret', null,
    'created_at', floor(extract(epoch from u.created_at))::bigint,
    'updated_at', floor(extract(epoch from u.updated_at))::bigint,
    'roles', coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name) order by r.id)
      from user_roles ur join roles r on r.id = ur.role_id where ur.user_id = u.id), '[]'))`

/** What makes a text an email address. */
export const emailRule = {
  max: 254,
  isTrimmed: true,
  pattern: /^[^\s@]+@[^\s@]+$/,
  says: 'must be an email address.'
} as const

export const emailField = textField({
  ...emailRule,
  min: 3,
  about: 'The address to sign in with.',
  example: 'anna@example.com'
})
/** Lengths of passwords, in characters. */
export const minPasswordLength = 10
export const maxPasswordLength = 200

/** What a new password must be. Empty text is none. */
export const newPasswordRule = {
  max: maxPasswordLength,
  pattern: new RegExp(`^[^]{${minPasswordLength},}$`),
  says: `must have at least ${minPasswordLength} characters.`
} as const

/** How clients show texts and times to a person. */
export const preferenceFields = {
  locale: validatedField<string | null>(textField({ max: 25, about: '' }).input, {
    fallback: null,
    schema: { type: ['string', 'null'], maxLength: 25 },
    about: 'The language for clients; null: that of the browser.',
    example: 'de_DE'
  }),
  show_24_hour_time: validatedField<boolean | null>(flagField({ about: '' }).input, {
    fallback: null,
    schema: { type: ['boolean', 'null'] },
    about: 'Whether clients show times with 24 hours; null: as is usual for the language.'
  })
}

export const personNameField = textField({
  max: 100,
  isTrimmed: true,
  fallback: '',
  about: 'The name of the person.'
})

/** Serializes changes of people, so that two administrators cannot remove each other. */
export async function lockPeople(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('cuewire people'))`
}

/** Throws 403 if the caller lacks one of these permissions. */
export function assertMayGrant({ caller }: ApiRequest, grants: Grants): void {
  if (!caller?.key || !mayGrantAll(caller.key, grants))
    throw new ApiError('forbidden', 'You cannot give or take permissions that you do not have.')
}

/**
 * What a user with these roles may do. Throws 400 for unknown roles and stations, 403 for too much. `kept` are
 * stations of the limit as it is: one that was deleted stays in it, since an empty limit would be none.
 */
export async function readNewGrants(
  tx: Tx,
  request: ApiRequest,
  { roles, stations }: { readonly roles: readonly number[]; readonly stations: readonly number[] },
  kept: readonly number[] = []
): Promise<UserGrantRow> {
  const found = await tx<(Grants & { readonly id: number })[]>`
    select id, permissions, station_permissions as "stationPermissions" from roles
    where id = any(${[...roles]}::bigint[]) for share`
  assertNoFieldErrors([
    ...findUnknownElements(roles, new Set(found.map(role => role.id)), 'roles.', 'is no role.'),
    ...(await findUnknownStations(tx, request, stations, { prefix: 'stations.', kept }))
  ])
  const row = { roles: found, stations: stations.length === 0 ? null : stations }
  assertMayGrant(request, combineRoleGrants(row))
  return row
}

interface StationIdsOptions {
  /** Field names are the prefix, the index and the suffix. */
  readonly prefix: string
  readonly suffix?: string
  /** Ids that are allowed also without a station. */
  readonly kept?: readonly number[]
}

/** The problems of station ids that do not exist, or that the caller may not see. */
export async function findUnknownStations(
  tx: Tx,
  { caller }: ApiRequest,
  ids: readonly number[],
  { prefix, suffix = '', kept = [] }: StationIdsOptions
): Promise<FieldError[]> {
  const rows = await tx<{ id: number; isPublic: boolean }[]>`
    select id, is_public as "isPublic" from stations where id = any(${[...ids]}::bigint[]) and deleted_at is null`
  const visible = rows.filter(station => maySeeStation(caller?.key ?? null, station))
  const known = new Set([...kept, ...visible.map(station => station.id)])
  return ids.flatMap((each, index) =>
    known.has(each) ? [] : [fieldError(`${prefix}${index}${suffix}`, 'not_found', 'is no station.')]
  )
}

/** Whether a user has all permissions, for all stations. */
async function hasAdministrator(tx: Sql | Tx): Promise<boolean> {
  const [row] = await tx`
    select from users u join user_roles ur on ur.user_id = u.id join roles r on r.id = ur.role_id
    where u.stations is null and r.permissions ? 'administer all' limit 1`
  return row !== undefined
}

/** Changes people in a transaction. Throws 409 if that would leave no administrator where there was one. */
export const changePeople =
  (change: (tx: Tx) => Promise<ActionResult>) =>
  async (tx: Tx): Promise<ActionResult> => {
    await lockPeople(tx)
    const hadAdministrator = await hasAdministrator(tx)
    const result = await change(tx)
    if (hadAdministrator && !(await hasAdministrator(tx)))
      throw new ApiError(
        'conflict',
        'This is the last administrator: make another user an administrator first.'
      )
    return result
  }

/** Runs a statement that sets an email address. Throws 409 if another user has it. */
export async function withUniqueEmail<Result>(statement: Promise<Result>): Promise<Result> {
  try {
    return await statement
  } catch (error) {
    throw errorCodeOf(error) === '23505' ? emailTaken() : error
  }
}

/** Throws 409 if a user has an email address. */
export async function assertFreeEmail(tx: Tx, email: string): Promise<void> {
  const [user] = await tx`select from users where lower(email) = lower(${email})`
  if (user) throw emailTaken()
}

const emailTaken = () =>
  ApiError.ofFields([fieldError('email', 'duplicate', 'is already taken.')], 'conflict')
