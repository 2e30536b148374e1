import type { Sql, Tx } from '../../db/sql.ts'
import type { JsonSchema } from '../../fields/field.ts'
import { bodySchema } from '../../fields/form.ts'
import { ApiError } from '../../runtime/errors.ts'
import { recordAudit } from '../core/audit.ts'
import { likePattern, listParameters, parseListQuery, readList } from '../core/list.ts'
import { parseId } from '../core/parse.ts'
import type { ApiRequest, ApiRoute } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import { effectivePermissions, globalPermissions, isPermission, mayGrant } from './access.ts'
import { succeeded, succeededList, successListSchema, successSchema } from './account.ts'
import { generateKey, rowOfKey, storeKey } from './keys.ts'
import { newKeyFields, parseNewKey } from './new-key.ts'

const path = '/api/v1/main/api-keys'
const access = 'administer api keys'
const tag = 'API keys'
interface KeyRow {
  id: number
  name: string
  identifier: string
  permissions: string[]
  stationPermissions: Record<string, string[]>
  createdAt: number
  expiresAt: number
  lastUsedAt: number
  revokedAt: number
}

const selectKeys = (sql: Sql | Tx) => sql`
  select id, name, identifier, permissions, station_permissions as "stationPermissions",
    floor(extract(epoch from created_at))::bigint as "createdAt",
    coalesce(floor(extract(epoch from expires_at)), 0)::bigint as "expiresAt",
    coalesce(floor(extract(epoch from last_used_at)), 0)::bigint as "lastUsedAt",
    coalesce(floor(extract(epoch from revoked_at)), 0)::bigint as "revokedAt"
  from api_keys`

function renderKey(row: KeyRow) {
  const byStation = Object.entries(row.stationPermissions).map(([id, permissions]) => ({
    station: Number(id),
    permissions
  }))
  return {
    id: row.id,
    name: row.name,
    identifier: row.identifier,
    permissions: row.permissions,
    station_permissions: byStation,
    created_at: row.createdAt,
    expires_at: row.expiresAt,
    last_used_at: row.lastUsedAt,
    revoked_at: row.revokedAt
  }
}

const whole: JsonSchema = { type: 'integer', format: 'int64' }
const seconds = (about: string): JsonSchema => ({ ...whole, description: `Unix seconds; ${about}` })
const rights: JsonSchema = { type: 'array', items: { type: 'string' } }

/** What is told of a key; its secret never is. */
export const apiKeySchema = exactly({
  id: whole,
  name: { type: 'string' },
  identifier: { type: 'string', pattern: '^[0-9a-f]{16}$', description: 'The first half of the key.' },
  permissions: rights,
  station_permissions: { type: 'array', items: exactly({ station: whole, permissions: rights }) },
  created_at: seconds('when it was made.'),
  expires_at: seconds('0: it does not expire.'),
  last_used_at: seconds('exact to half a minute; 0: never used.'),
  revoked_at: seconds('0: it is not revoked.')
})
const record = { $ref: '#/components/schemas/ApiKey' }

const list: ApiRoute = {
  method: 'GET',
  path,
  access,
  operation: {
    id: 'listApiKeys',
    tag,
    summary: 'All API keys, without their secrets',
    query: listParameters(['id', 'name']),
    answer: successListSchema('api_keys', record)
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, ['id', 'name'])
    const pattern = likePattern(query.search)
    const where = sql`where name ilike ${pattern} or identifier ilike ${pattern}`
    const order = sql`order by ${sql(query.sort ?? 'id')} ${query.isDescending ? sql`desc` : sql``}, id`
    const keys = await readList<KeyRow>(request, services, query, {
      select: sql`${selectKeys(sql)} ${where} ${order}`,
      matching: sql`select from api_keys ${where}`,
      render: rows => rows.map(renderKey)
    })
    return succeededList('api_keys', keys, query, request, config.BASE_URL)
  }
}

const permissionNames: JsonSchema = { type: 'array', items: { type: 'string', enum: [...globalPermissions] } }

const current: ApiRoute = {
  method: 'GET',
  path: `${path}/current`,
  access: 'any key',
  operation: {
    id: 'getCurrentApiKey',
    tag,
    summary: 'The API key of the request, and what it may read and write',
    answer: successSchema({
      api_key: record,
      effective_permissions: exactly({
        read: { ...permissionNames, description: 'What it may read, for all stations.' },
        write: { ...permissionNames, description: 'What it may change, for all stations.' },
        stations: {
          type: 'array',
          description: 'The stations for which it has permissions of their own.',
          items: exactly({
            station: whole,
            short_name: { type: 'string' },
            read: permissionNames,
            write: permissionNames
          })
        }
      })
    })
  },
  async handle({ caller }, { reads: sql }) {
    const key = caller?.key
    const [row] = key ? await sql<KeyRow[]>`${selectKeys(sql)} where id = ${key.id}` : []
    if (!key || !row) throw new ApiError('forbidden')
    const stations = await sql<{ id: number; shortName: string }[]>`
      select id, short_name as "shortName" from stations
      where id = any(${Object.keys(key.stationPermissions).map(Number)}::bigint[]) and deleted_at is null order by id`
    return succeeded({
      api_key: renderKey(row),
      effective_permissions: {
        ...effectivePermissions(key, null),
        stations: stations.map(({ id, shortName }) => ({
          station: id,
          short_name: shortName,
          ...effectivePermissions(key, id)
        }))
      }
    })
  }
}

const create: ApiRoute = {
  method: 'POST',
  path,
  access,
  operation: {
    id: 'createApiKey',
    tag,
    summary: 'Make an API key; only this answer shows it',
    body: bodySchema(newKeyFields),
    answer: successSchema({
      key: { type: 'string', pattern: '^[0-9a-f]{16}:[0-9a-f]{32}$', description: 'Shown once.' },
      api_key: record
    })
  },
  async handle(request, { sql }) {
    const asked = await parseNewKey(sql, request)
    const key = generateKey()
    const row = await sql.begin(async tx => {
      const id = await storeKey(tx, key, asked.key)
      const [stored] = await tx<KeyRow[]>`${selectKeys(tx)} where id = ${id}`
      if (!stored) throw new Error('a key that was made now is not there')
      await recordAudit(tx, request, { record: 'ApiKey', id: stored.id, fields: asked.fields })
      return stored
    })
    return succeeded({ key, api_key: renderKey(row) })
  }
}

const revoke: ApiRoute = {
  method: 'POST',
  path: `${path}/revoke/:key`,
  access,
  operation: {
    id: 'revokeApiKey',
    tag,
    summary: 'End an API key, named by its first half, the whole key or its id; again changes nothing',
    answer: successSchema({ api_key: record }),
    errors: [409]
  },
  async handle(request, { sql, keys }) {
    const row = await sql.begin(async tx => {
      // The last keys with all rights must not end each other at the same time.
      await tx`select pg_advisory_xact_lock(hashtext('cuewire admin key'))`
      const found = await findKey(tx, request.params['key'] ?? '')
      if (!mayEnd(request, found)) throw new ApiError('forbidden')
      if (found.revokedAt !== 0) return found
      await keepLastAdministrator(tx, found.id)
      await tx`update api_keys set revoked_at = now() where id = ${found.id}`
      await recordAudit(tx, request, { record: 'ApiKey', id: found.id, fields: ['revoked_at'] })
      const [revoked] = await tx<KeyRow[]>`${selectKeys(tx)} where id = ${found.id}`
      return revoked ?? found
    })
    keys.forget(row.id)
    return succeeded({ api_key: renderKey(row) })
  }
}

/** By the whole key, its first half or its id. Throws 404. */
async function findKey(tx: Tx, name: string): Promise<KeyRow> {
  const named = rowOfKey(name)
  const [row] = named
    ? await tx<KeyRow[]>`
        ${selectKeys(tx)} where identifier = ${named.identifier} and verifier = ${named.verifier} for update`
    : /^[0-9a-f]{16}$/.test(name)
      ? await tx<KeyRow[]>`${selectKeys(tx)} where identifier = ${name} for update`
      : await tx<KeyRow[]>`${selectKeys(tx)} where id = ${parseId(name)} for update`
  if (!row) throw new ApiError('not-found')
  return row
}

/**
 * Whether the caller holds all that the key may do: nobody ends a key stronger than their own. Everybody ends
 * their own.
 */
function mayEnd({ caller }: ApiRequest, { id, permissions, stationPermissions }: KeyRow): boolean {
  const key = caller?.key
  if (!key) return false
  if (key.id === id) return true
  const mayGrantAll = (names: readonly string[], stationId: number | null) =>
    names.every(name => isPermission(name) && mayGrant(key, name, stationId))
  return (
    mayGrantAll(permissions, null) &&
    Object.entries(stationPermissions).every(([stationId, names]) => mayGrantAll(names, Number(stationId)))
  )
}

/** Throws a 409 for a key with all rights when no other one stays for good: nobody could make another one. */
async function keepLastAdministrator(tx: Tx, id: number): Promise<void> {
  const administrators = await tx<{ id: number; isLasting: boolean }[]>`
    select id, expires_at is null as "isLasting" from api_keys
    where permissions ? 'administer all' and revoked_at is null and (expires_at is null or expires_at > now())`
  const isOne = administrators.some(each => each.id === id)
  if (!isOne || administrators.some(each => each.id !== id && each.isLasting)) return
  const message = 'This is the last key with all rights: make another one first.'
  throw ApiError.ofFields([{ field: 'key', code: 'in_use', message }], 'conflict')
}

export const apiKeyRoutes = [list, current, create, revoke]
