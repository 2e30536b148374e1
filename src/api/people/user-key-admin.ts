import * as v from 'valibot'

import { validatedField, formatCheckMessage } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { combineRoleGrants, type UserGrantRow, userGrantColumns } from '../auth/user-grants.ts'
import { actionRoute } from '../core/actions.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseBody } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'
import { assertMayGrant } from './people.ts'
import {
  createUserKey,
  newUserKeyFields,
  readUserKey,
  renderUserKey,
  revokeUserKey,
  selectUserKeysFragment,
  type UserKeyRow,
  isUserKeyInPathFragment,
  userKeyFields,
  userKeysFragment,
  userKeySchema
} from './user-keys.ts'

const access = 'administer api keys'
const tag = 'API keys'
const path = '/api/admin/api-keys'
const onePath = '/api/admin/api-key'
const record = userKeySchema

const fields = {
  user: validatedField(
    v.union(
      [v.number(), v.string()],
      formatCheckMessage('invalid_type', 'must be the id or the email address of a user.')
    ),
    { schema: { type: ['integer', 'string'] }, about: 'The id or the email address of the user.', example: 1 }
  ),
  ...newUserKeyFields
}
const validator = bodyValidator(fields)

const list = listRoute(path, access, {
  id: 'listUserApiKeys',
  tag,
  summary: 'The API keys of all users; keys with permissions of their own are in v1/main/api-keys',
  record,
  open(query, _, { reads: sql, config }) {
    const contains = containsTextFragment(sql, query.search)
    const where = sql`where k.name ${contains} or k.identifier ${contains} or u.email ${contains}`
    return {
      select: sql`${selectUserKeysFragment(sql)} ${where} order by k.id`,
      matching: sql`select from ${userKeysFragment(sql)} ${where}`,
      render: (rows: readonly UserKeyRow[]) => rows.map(row => renderUserKey(row, config.BASE_URL + onePath))
    }
  }
})

const read = apiRoute('GET', `${onePath}/:id`, access, {
  id: 'getUserApiKey',
  tag,
  summary: 'An API key of a user',
  response: record,
  handle: async (request, { reads: sql, config }) =>
    jsonReply(renderUserKey(await readUserKey(sql, request, null), config.BASE_URL + onePath))
})

interface LockedUser extends UserGrantRow {
  readonly id: number
}

/** Locks a user. Throws 403 if the user may do more than the caller: the key would have these permissions. */
async function lockUser(tx: Tx, request: ApiRequest, found: LockedUser | undefined): Promise<number | null> {
  if (!found) return null
  assertMayGrant(request, combineRoleGrants(found))
  await tx`select from users where id = ${found.id} for update`
  return found.id
}

async function lockNamedUser(tx: Tx, request: ApiRequest, name: number | string): Promise<number> {
  const id = /^\d{1,15}$/.test(String(name)) ? Number(name) : 0
  const [found] = await tx<LockedUser[]>`
    select u.id, ${userGrantColumns(tx)} from users u
    where u.id = ${id} or lower(u.email) = lower(${String(name).replaceAll('\0', '')})`
  return (await lockUser(tx, request, found)) ?? refuseField('user', 'not_found', 'is no user.')
}

const create = actionRoute('POST', path, access, {
  id: 'createUserApiKey',
  tag,
  summary: 'Create an API key for a user; only this response contains it',
  body: bodySchema(fields),
  response: exactObject({ key: string, ...userKeyFields }),
  errors: [409],
  prepare(request, { config }) {
    const { user, ...values } = parseBody(validator, request.body)
    return async tx => {
      const userId = await lockNamedUser(tx, request, user)
      return createUserKey(tx, userId, config.BASE_URL + onePath, values)
    }
  }
})

const revoke = actionRoute('DELETE', `${onePath}/:id`, access, {
  id: 'revokeUserApiKey',
  tag,
  summary: 'Revoke an API key of a user, by its first half or its number',
  prepare:
    (request, { keys }) =>
    async tx => {
      const [found] = await tx<LockedUser[]>`
        select u.id, ${userGrantColumns(tx)} from ${userKeysFragment(tx)} where ${isUserKeyInPathFragment(tx, request)}`
      const userId = await lockUser(tx, request, found)
      if (userId === null) throw new ApiError('not-found')
      return revokeUserKey(tx, request, keys, { userId, message: 'Record deleted successfully.' })
    }
})

export const userKeyAdminRoutes = [list, read, create, revoke]
