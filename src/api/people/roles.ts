import * as v from 'valibot'

import {
  choiceField,
  validatedField,
  integerField,
  listField,
  textField,
  type ValuesOf
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator, changesValidator } from '../../model/fields/validators.ts'
import { ApiError, assertNoFieldErrors, errorCodeOf, fieldError } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import {
  globalPermissions,
  type Grants,
  permissionDescriptions,
  type Permission,
  stationPermissions
} from '../auth/access.ts'
import { actionRoute } from '../core/actions.ts'
import { type AuditEntry, toAuditedChanges } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import { peopleAccess, assertMayGrant, changePeople, findUnknownStations, peopleTag } from './people.ts'

function permissionList(names: readonly [Permission, ...Permission[]], about: string) {
  const permission = choiceField(names, { about })
  const list = listField(permission.input, { max: 100, items: permission.schema, about })
  return {
    ...list,
    input: v.pipe(
      list.input,
      v.transform(each => [...new Set(each)])
    )
  }
}

const ofStation = {
  id: integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'The id of the station.', example: 1 }),
  permissions: permissionList(stationPermissions, 'Permissions for the station.')
}
const granted = {
  global: permissionList(globalPermissions, 'Permissions for the installation and all stations.'),
  station: listField(bodyValidator(ofStation), {
    max: 1_000,
    items: bodySchema(ofStation),
    about: 'Permissions for single stations.'
  })
}
const fields = {
  name: textField({
    min: 1,
    max: 100,
    isTrimmed: true,
    about: 'The name of the role.',
    example: 'Night shift'
  }),
  permissions: validatedField(bodyValidator(granted), {
    fallback: { global: [], station: [] },
    schema: {
      type: 'object',
      properties: { global: granted.global.schema, station: granted.station.schema }
    },
    about: 'What users with the role may do.'
  })
}
const roleValidator = bodyValidator(fields)
const roleChangesValidator = changesValidator(fields)

const permissionNames = arrayOf(string)
/** Fields of a record that a body may repeat. */
const computedFields = {
  id: int64,
  is_super_admin: { ...boolean, description: 'Whether it has all permissions and cannot be changed.' },
  is_builtin: { ...boolean, description: 'Whether it is a role of the program, which cannot be changed.' },
  users: { ...int64, description: 'Number of users with the role.' },
  links: exactObject({ self: string })
}

const roleSchema = namedSchema(
  'Role',
  'A role: permissions that users have together.',
  exactObject({
    name: string,
    permissions: exactObject({
      global: permissionNames,
      station: arrayOf(exactObject({ id: int64, permissions: permissionNames }))
    }),
    ...computedFields
  })
)
const record = roleSchema

interface RoleRow extends Grants {
  readonly id: number
  readonly name: string
  readonly builtin: string | null
  readonly users: number
}

const selectRoles = (sql: Sql | Tx) => sql`
  select id, name, builtin, permissions, station_permissions as "stationPermissions",
    (select count(*) from user_roles where role_id = roles.id) as users
  from roles`

function renderRole(row: RoleRow, baseUrl: string) {
  const { id, name, builtin, permissions, users } = row
  const station = Object.entries(row.stationPermissions).map(([stationId, names]) => ({
    id: Number(stationId),
    permissions: names
  }))
  return {
    id,
    name,
    permissions: { global: permissions, station },
    is_super_admin: builtin === 'administrator',
    is_builtin: builtin !== null,
    users,
    links: { self: `${baseUrl}/api/admin/role/${id}` }
  }
}

const list = listRoute('/api/admin/roles', peopleAccess, {
  id: 'listRoles',
  tag: peopleTag,
  summary: 'All roles',
  responseRecord: 'Role',
  record,
  sort: ['id', 'name'],
  open(query, _, { reads: sql, config }) {
    const where = sql`where name ${containsTextFragment(sql, query.search)}`
    const order = sql`order by ${sql(query.sort ?? 'id')} ${query.isDescending ? sql`desc` : sql``}, id`
    return {
      select: sql`${selectRoles(sql)} ${where} ${order}`,
      matching: sql`select from roles ${where}`,
      render: (rows: readonly RoleRow[]) => rows.map(row => renderRole(row, config.BASE_URL))
    }
  }
})

/** Reads a role, and locks it in a transaction. Throws 404. */
async function readRole(sql: Sql | Tx, id: number, lock = sql``): Promise<RoleRow> {
  const [row] = await sql<RoleRow[]>`${selectRoles(sql)} where id = ${id} ${lock}`
  if (!row) throw new ApiError('not-found')
  return row
}

async function readChangeable(tx: Tx, request: ApiRequest): Promise<RoleRow> {
  const row = await readRole(tx, parsePathId(request.params['id']), tx`for update`)
  if (row.builtin !== null)
    throw new ApiError('conflict', 'A role of the program cannot be changed: create one of your own.')
  assertMayGrant(request, row)
  return row
}

/** The permissions of a body. Throws 400 for unknown stations, and 403 for more than the caller has. */
async function readGrants(
  tx: Tx,
  request: ApiRequest,
  { global, station }: ValuesOf<typeof fields>['permissions']
): Promise<Grants> {
  const ids = station.map(each => each.id)
  assertNoFieldErrors([
    ...(await findUnknownStations(tx, request, ids, { prefix: 'permissions.station.', suffix: '.id' })),
    ...ids.flatMap((id, index) =>
      ids.indexOf(id) === index
        ? []
        : [fieldError(`permissions.station.${index}.id`, 'duplicate', 'is named twice.')]
    )
  ])
  const byStation = station.map(({ id, permissions }) => [String(id), permissions] as const)
  const grants = { permissions: global, stationPermissions: Object.fromEntries(byStation) }
  assertMayGrant(request, grants)
  return grants
}

/** The entry of the audit log about a change of a role; null before a creation, or after a deletion. */
function auditRole(before: RoleRow | null, after: RoleRow | null): AuditEntry {
  const { id = 0, name = '' } = after ?? before ?? {}
  const [from, to] = [before, after].map(row => row && renderRole(row, ''))
  return { record: 'Role', id, name, changes: toAuditedChanges(fields, from ?? null, to ?? null) }
}

const create = actionRoute('POST', '/api/admin/roles', peopleAccess, {
  id: 'createRole',
  tag: peopleTag,
  summary: 'Create a role',
  bodyRecord: 'Role',
  body: bodySchema(fields, { readOnly: computedFields }),
  responseRecord: 'Role',
  response: record,
  prepare(request, { config }) {
    const values = parseBody(roleValidator, request.body)
    return changePeople(async tx => {
      const grants = await readGrants(tx, request, values.permissions)
      const [made] = await withUniqueName(tx<{ id: number }[]>`
        insert into roles (name, permissions, station_permissions)
        values (${values.name}, ${tx.json([...grants.permissions])}, ${storedByStation(tx, grants)}) returning id`)
      const role = await readRole(tx, made?.id ?? 0)
      return { audit: [auditRole(null, role)], reply: jsonReply(renderRole(role, config.BASE_URL)) }
    })
  }
})

const read = apiRoute('GET', '/api/admin/role/:id', peopleAccess, {
  id: 'getRole',
  tag: peopleTag,
  summary: 'Read a role',
  responseRecord: 'Role',
  response: record,
  handle: async (request, { reads: sql, config }) =>
    jsonReply(renderRole(await readRole(sql, parsePathId(request.params['id'])), config.BASE_URL))
})

const edit = actionRoute('PUT', '/api/admin/role/:id', peopleAccess, {
  id: 'editRole',
  tag: peopleTag,
  summary: 'Change a role; this takes effect for its users within a second',
  bodyRecord: 'Role',
  body: bodySchema(fields, { isPartial: true, readOnly: computedFields }),
  errors: [409],
  prepare(request, { keys }) {
    const values = parseBody(roleChangesValidator, request.body)
    return changePeople(async tx => {
      const before = await readChangeable(tx, request)
      const grants = values.permissions ? await readGrants(tx, request, values.permissions) : before
      await withUniqueName(tx`
        update roles set name = ${values.name ?? before.name}, permissions = ${tx.json([...grants.permissions])},
          station_permissions = ${storedByStation(tx, grants)}
        where id = ${before.id}`)
      return {
        audit: [auditRole(before, await readRole(tx, before.id))],
        reply() {
          keys.forget(({ user }) => Boolean(user))
          return actionReply('Record updated successfully.')
        }
      }
    })
  }
})

const remove = actionRoute('DELETE', '/api/admin/role/:id', peopleAccess, {
  id: 'deleteRole',
  tag: peopleTag,
  summary: 'Delete a role that no user has',
  errors: [409],
  prepare: request =>
    changePeople(async tx => {
      const role = await readChangeable(tx, request)
      if (role.users > 0) throw new ApiError('conflict', 'Users have this role: give them another one first.')
      await tx`delete from roles where id = ${role.id}`
      return { audit: [auditRole(role, null)], reply: actionReply('Record deleted successfully.') }
    })
})

const storedByStation = (tx: Tx, { stationPermissions: byStation }: Grants) =>
  tx.json(Object.fromEntries(Object.entries(byStation).map(([id, names]) => [id, [...names]])))

async function withUniqueName<Result>(statement: Promise<Result>): Promise<Result> {
  try {
    return await statement
  } catch (error) {
    if (errorCodeOf(error) !== '23505') throw error
    throw ApiError.ofFields([fieldError('name', 'duplicate', 'is already taken.')], 'conflict')
  }
}

const describe = (id: Permission) => ({ id, name: permissionDescriptions[id] })

const permission = exactObject({ id: string, name: { ...string, description: 'What it allows.' } })

const permissions = apiRoute('GET', '/api/admin/permissions', peopleAccess, {
  id: 'listPermissions',
  tag: peopleTag,
  summary: 'All permissions, and what they allow',
  response: exactObject({ global: arrayOf(permission), station: arrayOf(permission) }),
  handle: () =>
    jsonReply({ global: globalPermissions.map(describe), station: stationPermissions.map(describe) })
})

export const roleRoutes = [list, create, read, edit, remove, permissions]
