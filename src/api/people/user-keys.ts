import { integerField, textField, type ValuesOf } from '../../model/fields/field.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoFieldErrors, fieldError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { apiKeyIdentifierPattern, generateApiKey, storeApiKey } from '../auth/key-checker.ts'
import type { ActionResult } from '../core/actions.ts'
import { type AuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { maxUnixSecond } from '../core/moments.ts'
import { parsePathId } from '../core/parse.ts'
import { actionReply, type ApiRequest, jsonReply } from '../core/route.ts'
import { exactObject, namedSchema, string, unixSeconds } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { userSummaryFragment, userSummarySchema } from './people.ts'

// API keys that belong to users, and always may do what their users may do.

const maxKeys = 50

/** A key of a user, without its secret. */
export const userKeyFields = {
  id: { ...string, description: 'The first half of the key.' },
  verifier: { ...string, const: '', description: 'Never shown.' },
  user: userSummarySchema,
  comment: { ...string, description: 'What the key is for.' },
  name: { ...string, description: 'The same as comment.' },
  identifier: { ...string, description: 'The same as id.' },
  created_at: unixSeconds,
  expires_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' },
  last_used_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' },
  links: exactObject({ self: { ...string, format: 'uri' } })
}
export const userKeySchema = namedSchema(
  'UserApiKey',
  'An API key of a user, without its secret.',
  exactObject(userKeyFields)
)

/** The fields of a new key. */
export const newUserKeyFields = {
  name: textField({
    max: 200,
    isTrimmed: true,
    fallback: '',
    about: 'What the key is for.',
    example: 'Upload script'
  }),
  comment: textField({ max: 200, isTrimmed: true, fallback: '', about: 'Alias of name.' }),
  expires_at: integerField({ min: 0, max: maxUnixSecond, fallback: 0, about: 'Unix seconds; 0: never.' })
}

/** A row that `selectUserKeysFragment` returns. */
export interface UserKeyRow {
  readonly id: string
  readonly verifier: string
  /** As `userSummaryFragment` makes it. */
  readonly user: { readonly email: string }
  readonly comment: string
  readonly name: string
  readonly identifier: string
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number
}

/** Renders a key below the path of all keys. */
export const renderUserKey = (row: UserKeyRow, pathOfKey: string) => ({
  ...row,
  links: { self: `${pathOfKey}/${row.id}` }
})

/** The keys of users that were not revoked; `k` is the key and `u` its user. */
export const userKeysFragment = (sql: Sql | Tx): Fragment =>
  sql`api_keys k join users u on u.id = k.user_id and k.revoked_at is null`

export const selectUserKeysFragment = (sql: Sql | Tx): Fragment => sql`
  select k.identifier as id, '' as verifier, ${userSummaryFragment(sql)} as user, k.name as comment, k.name, k.identifier,
    floor(extract(epoch from k.created_at))::bigint as created_at,
    coalesce(floor(extract(epoch from k.expires_at)), 0)::bigint as expires_at,
    coalesce(floor(extract(epoch from k.last_used_at)), 0)::bigint as last_used_at
  from ${userKeysFragment(sql)}`

/** The condition that `k` is the key in the path: by its first half, or by its number. Throws 404. */
export function isUserKeyInPathFragment(sql: Sql | Tx, { params: { id = '' } }: ApiRequest): Fragment {
  return apiKeyIdentifierPattern.test(id) ? sql`k.identifier = ${id}` : sql`k.id = ${parsePathId(id)}`
}

/** Reads the key in the path, of one user or (null) of any. Throws 404. */
export async function readUserKey(sql: Sql | Tx, request: ApiRequest, userId: number | null) {
  const [row] = await sql<UserKeyRow[]>`
    ${selectUserKeysFragment(sql)} where ${isUserKeyInPathFragment(sql, request)} and u.id = coalesce(${userId}, u.id)`
  if (!row) throw new ApiError('not-found')
  return row
}

/**
 * Creates a key of a user, whose row is locked, and shows it below a path. Throws 400 for a missing name, 409 if there
 * are too many.
 */
export async function createUserKey(
  tx: Tx,
  userId: number,
  pathOfKey: string,
  { name: given, comment, expires_at: expiresAt }: ValuesOf<typeof newUserKeyFields>
): Promise<ActionResult> {
  const name = given || comment
  assertNoFieldErrors([
    ...(name === '' ? [fieldError('name', 'required', 'is required.')] : []),
    ...(expiresAt !== 0 && expiresAt * 1_000 <= engineTimeMs()
      ? [fieldError('expires_at', 'out_of_range', 'is in the past.')]
      : [])
  ])
  const [counted] = await tx<{ count: number }[]>`
    select count(*) from api_keys where user_id = ${userId} and revoked_at is null`
  if ((counted?.count ?? 0) >= maxKeys)
    throw new ApiError('conflict', `There are ${maxKeys} keys already: revoke one first.`)
  const key = generateApiKey()
  const id = await storeApiKey(tx, key, {
    name,
    permissions: [],
    expiresAt: expiresAt === 0 ? null : new Date(expiresAt * 1_000),
    userId
  })
  const [row] = await tx<UserKeyRow[]>`${selectUserKeysFragment(tx)} where k.id = ${id}`
  if (!row || id === null) throw new Error('insert returned no row')
  const { user, expires_at } = row
  const changes: AuditedChanges = {
    name: { to: name },
    expires_at: { to: expires_at },
    user: { to: user.email }
  }
  return {
    audit: [{ record: 'ApiKey', id, name, changes }],
    reply: {
      ...jsonReply({ key, ...renderUserKey(row, pathOfKey) }),
      headers: { 'Cache-Control': 'no-store' }
    }
  }
}

/** Revokes a key that was found by `isUserKeyInPathFragment`. Throws 404 if it is not one of the user. */
export async function revokeUserKey(
  tx: Tx,
  request: ApiRequest,
  keys: ApiServices['keys'],
  { userId, message }: { readonly userId: number; readonly message: string }
): Promise<ActionResult> {
  const [revoked] = await tx<{ id: number; name: string }[]>`
    update api_keys k set revoked_at = now()
    where ${isUserKeyInPathFragment(tx, request)} and k.user_id = ${userId} and k.revoked_at is null returning k.id, k.name`
  if (!revoked) throw new ApiError('not-found')
  const { id, name } = revoked
  return {
    audit: [{ record: 'ApiKey', id, name, changes: changedWithoutValues('revoked_at') }],
    reply() {
      keys.forget(key => key.id === id)
      return actionReply(message)
    }
  }
}
