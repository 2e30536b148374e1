import { secretField, type ValuesOf } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator, changesValidator } from '../../model/fields/validators.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { hashPassword } from '../auth/passwords.ts'
import { combineRoleGrants, type UserGrantRow, userGrantColumns } from '../auth/user-grants.ts'
import { actionRoute } from '../core/actions.ts'
import { type AuditEntry, toAuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { boolean, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'
import {
  peopleAccess,
  assertMayGrant,
  changePeople,
  emailField,
  grantFields,
  grantSchemas,
  personNameField,
  preferenceFields,
  readNewGrants,
  type NamedRole,
  peopleTag,
  withUniqueEmail,
  newPasswordRule
} from './people.ts'
import { endSignInSessions } from './sessions.ts'

const newPassword = secretField({
  ...newPasswordRule,
  about: 'A password to set. The user is signed out everywhere.'
})

const fields = {
  email: emailField,
  name: personNameField,
  new_password: newPassword,
  auth_password: { ...newPassword, schema: { ...newPassword.schema, description: 'Alias of new_password.' } },
  ...preferenceFields,
  ...grantFields
}
const userValidator = bodyValidator(fields)
const userChangesValidator = changesValidator(fields)

/** Fields of a record that a body may repeat. */
const computedFields = {
  id: int64,
  two_factor_secret: { type: 'null', description: 'There are passkeys instead.' },
  has_password: boolean,
  passkeys: { ...int64, description: 'Number of passkeys.' },
  created_at: unixSeconds,
  updated_at: unixSeconds,
  last_sign_in_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' },
  is_me: { ...boolean, description: 'Whether it is the user of the request.' },
  links: exactObject({ self: string })
}

/** The schemas of the fields of a user. */
export const userFields = {
  email: string,
  name: string,
  auth_password: { ...string, const: '', description: 'Write-only: reads "".' },
  locale: { type: ['string', 'null'] },
  show_24_hour_time: { type: ['boolean', 'null'] },
  ...grantSchemas,
  ...computedFields
}
const userSchema = namedSchema('User', 'A person who may sign in.', exactObject(userFields))
const record = userSchema

type UserRow = {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly auth_password: string
  readonly locale: string | null
  readonly show_24_hour_time: boolean | null
  readonly two_factor_secret: string | null
  readonly roles: readonly NamedRole[]
  readonly stations: readonly number[]
  readonly has_password: boolean
  readonly passkeys: number
  readonly created_at: number
  readonly updated_at: number
  readonly last_sign_in_at: number
}

const selectUsers = (sql: Sql | Tx) => sql`
  select id, email, name, '' as auth_password, locale, show_24_hour_time, null::text as two_factor_secret,
    coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name) order by r.id)
      from user_roles ur join roles r on r.id = ur.role_id where ur.user_id = users.id), '[]') as roles,
    coalesce(stations, '[]') as stations, password_hash is not null as has_password,
    (select count(*) from passkeys where user_id = users.id) as passkeys,
    floor(extract(epoch from created_at))::bigint as created_at,
    floor(extract(epoch from updated_at))::bigint as updated_at,
    coalesce(floor(extract(epoch from last_sign_in_at)), 0)::bigint as last_sign_in_at
  from users`

const renderUser = (row: UserRow, { caller }: ApiRequest, baseUrl: string) => ({
  ...row,
  is_me: caller?.key?.user?.id === row.id,
  links: { self: `${baseUrl}/api/admin/user/${row.id}` }
})

/** Reads a user as the API shows it. Throws 404. */
export async function readUser(sql: Sql | Tx, id: number, request: ApiRequest, baseUrl: string) {
  const [row] = await sql<UserRow[]>`${selectUsers(sql)} where id = ${id}`
  if (!row) throw new ApiError('not-found')
  return renderUser(row, request, baseUrl)
}

const list = listRoute('/api/admin/users', peopleAccess, {
  id: 'listUsers',
  tag: peopleTag,
  summary: 'All users',
  responseRecord: 'User',
  record,
  sort: ['id', 'email', 'name'],
  open(query, request, { reads: sql, config }) {
    const contains = containsTextFragment(sql, query.search)
    const where = sql`where email ${contains} or name ${contains}`
    const order = sql`order by ${sql(query.sort ?? 'id')} ${query.isDescending ? sql`desc` : sql``}, id`
    return {
      select: sql`${selectUsers(sql)} ${where} ${order}`,
      matching: sql`select from users ${where}`,
      render: (rows: readonly UserRow[]) => rows.map(row => renderUser(row, request, config.BASE_URL))
    }
  }
})

/** The entry of the audit log about a change of a user; null before a creation, or after a deletion. */
export function toUserAuditEntry(
  before: UserRow | null,
  after: UserRow | null,
  changedPassword = ''
): AuditEntry {
  const { id = 0, email = '' } = after ?? before ?? {}
  const secrets = changedPassword === '' ? {} : changedWithoutValues(changedPassword)
  return {
    record: 'User',
    id,
    name: email,
    changes: { ...toAuditedChanges(fields, before, after), ...secrets }
  }
}

const create = actionRoute('POST', '/api/admin/users', peopleAccess, {
  id: 'createUser',
  tag: peopleTag,
  summary: 'Create a user with a password; to let the person choose one, create an invitation',
  bodyRecord: 'User',
  body: bodySchema(fields, { readOnly: computedFields }),
  responseRecord: 'User',
  response: record,
  async prepare(request, { config }) {
    const values = parseBody(userValidator, request.body)
    const hash = await hashNewPassword(values)
    return changePeople(async tx => {
      await readNewGrants(tx, request, values)
      const id = await insertUser(tx, { ...values, hash })
      const user = await readUser(tx, id, request, config.BASE_URL)
      return { audit: [toUserAuditEntry(null, user, passwordChange(hash))], reply: jsonReply(user) }
    })
  }
})

const passwordChange = (hash: string | null) => (hash === null ? '' : 'new_password')

type PasswordFields = Partial<Pick<ValuesOf<typeof fields>, 'new_password' | 'auth_password'>>

/** Hashes the password of a body; null without one. */
async function hashNewPassword({ new_password: password, auth_password: alias }: PasswordFields) {
  const given = password || alias || ''
  return given === '' ? null : hashPassword(given)
}

/** Assignments for an update: preferences that the body omits stay. */
export const preferenceAssignmentsFragment = (
  tx: Tx,
  values: Partial<ValuesOf<typeof preferenceFields>>
): Fragment => tx`
  locale = ${values.locale === undefined ? tx`locale` : values.locale},
  show_24_hour_time = ${values.show_24_hour_time === undefined ? tx`show_24_hour_time` : values.show_24_hour_time},`

interface NewUser
  extends
    Pick<ValuesOf<typeof fields>, 'email' | 'name' | 'roles' | 'stations'>,
    Partial<ValuesOf<typeof preferenceFields>> {
  readonly hash: string | null
}

/** Inserts a user. Returns the id. Throws 409 if the email address is taken. */
export async function insertUser(tx: Tx, user: NewUser): Promise<number> {
  const { email, name, roles, stations, hash, locale = null, show_24_hour_time: has24Hours = null } = user
  const [row] = await withUniqueEmail(tx<{ id: number }[]>`
    insert into users (email, name, password_hash, stations, locale, show_24_hour_time)
    values (${email}, ${name}, ${hash}, ${limitOf(tx, stations)}, ${locale}, ${has24Hours}) returning id`)
  if (!row) throw new Error('insert returned no row')
  await setRoles(tx, row.id, roles)
  return row.id
}

const limitOf = (tx: Tx, stations: readonly number[]) =>
  stations.length === 0 ? null : tx.json([...new Set(stations)])

async function setRoles(tx: Tx, userId: number, roles: readonly number[]): Promise<void> {
  await tx`delete from user_roles where user_id = ${userId}`
  await tx`insert into user_roles (user_id, role_id)
    select ${userId}::bigint, id from roles where id = any(${[...roles]}::bigint[])`
}

const read = apiRoute('GET', '/api/admin/user/:id', peopleAccess, {
  id: 'getUser',
  tag: peopleTag,
  summary: 'Read a user',
  responseRecord: 'User',
  response: record,
  handle: async (request, { reads: sql, config }) =>
    jsonReply(await readUser(sql, parsePathId(request.params['id']), request, config.BASE_URL))
})

interface LockedUser extends UserGrantRow {
  readonly id: number
  readonly roleIds: readonly number[]
}

/** Reads and locks a user. Throws 404, and 403 if the user has permissions that the caller lacks. */
async function lockUser(tx: Tx, request: ApiRequest): Promise<LockedUser> {
  const [user] = await tx<LockedUser[]>`
    select u.id, ${userGrantColumns(tx)},
      coalesce((select jsonb_agg(role_id) from user_roles where user_id = u.id), '[]') as "roleIds"
    from users u where u.id = ${parsePathId(request.params['id'])} for update`
  if (!user) throw new ApiError('not-found')
  assertMayGrant(request, combineRoleGrants(user))
  return user
}

const edit = actionRoute('PUT', '/api/admin/user/:id', peopleAccess, {
  id: 'editUser',
  tag: peopleTag,
  summary: 'Change a user; roles take effect within a second, a new password ends the sessions',
  bodyRecord: 'User',
  body: bodySchema(fields, { isPartial: true, readOnly: computedFields }),
  errors: [409],
  async prepare(request, { keys, config }) {
    const values = parseBody(userChangesValidator, request.body)
    const { email = null, name = null } = values
    const hash = await hashNewPassword(values)
    return changePeople(async tx => {
      const { id, roleIds, stations } = await lockUser(tx, request)
      const before = await readUser(tx, id, request, config.BASE_URL)
      const granted = { roles: values.roles ?? roleIds, stations: values.stations ?? stations ?? [] }
      if (values.roles || values.stations) await readNewGrants(tx, request, granted, stations ?? [])
      await withUniqueEmail(tx`
        update users set email = coalesce(${email}, email), name = coalesce(${name}, name),
          password_hash = coalesce(${hash}, password_hash), stations = ${limitOf(tx, granted.stations)},
          ${preferenceAssignmentsFragment(tx, values)}
          updated_at = now()
        where id = ${id}`)
      await setRoles(tx, id, granted.roles)
      if (hash !== null) await endSignInSessions(tx, id)
      const after = await readUser(tx, id, request, config.BASE_URL)
      return {
        audit: [toUserAuditEntry(before, after, passwordChange(hash))],
        reply() {
          keys.forget(({ user }) => user?.id === id)
          return actionReply('Record updated successfully.')
        }
      }
    })
  }
})

const remove = actionRoute('DELETE', '/api/admin/user/:id', peopleAccess, {
  id: 'deleteUser',
  tag: peopleTag,
  summary: 'Delete a user with all sessions and own API keys',
  errors: [409],
  prepare: (request, { keys, config }) =>
    changePeople(async tx => {
      const { id } = await lockUser(tx, request)
      const before = await readUser(tx, id, request, config.BASE_URL)
      await tx`delete from users where id = ${id}`
      return {
        audit: [toUserAuditEntry(before, null)],
        reply() {
          keys.forget(({ user }) => user?.id === id)
          return actionReply('Record deleted successfully.')
        }
      }
    })
})

export const userRoutes = [list, create, read, edit, remove]
