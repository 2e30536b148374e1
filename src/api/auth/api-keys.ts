import type { JsonSchema } from '../../model/fields/field.ts'
import { bodySchema } from '../../model/fields/validators.ts'
import { type Dialect, dialectNames } from '../../model/station/dialect.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { actionRoute } from '../core/actions.ts'
import { toAuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parsePathId } from '../core/parse.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import { arrayOf, exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import { mayGrantAll } from './access.ts'
import { accountLevelReply, accountLevelSchema } from './account-level-replies.ts'
import { effectivePermissionsSchema, readEffectivePermissions } from './effective-permissions.ts'
import { apiKeyIdentifierPattern, generateApiKey, parseApiKey, storeApiKey } from './key-checker.ts'
import { newApiKeyFields, validateNewApiKey } from './new-api-key.ts'

const path = '/api/v1/main/api-keys'
const access = 'administer api keys'
const tag = 'API keys'

interface KeyRow {
  readonly id: number
  readonly name: string
  readonly identifier: string
  readonly permissions: readonly string[]
  readonly station_permissions: Readonly<Record<string, readonly string[]>>
  readonly created_at: number
  readonly expires_at: number
  readonly last_used_at: number
  readonly revoked_at: number
  readonly dialect: Dialect | null
}

const selectKeys = (sql: Sql | Tx) => sql`
  select id, name, identifier, permissions, station_permissions, dialect,
    floor(extract(epoch from created_at))::bigint as created_at,
    coalesce(floor(extract(epoch from expires_at)), 0)::bigint as expires_at,
    coalesce(floor(extract(epoch from last_used_at)), 0)::bigint as last_used_at,
    coalesce(floor(extract(epoch from revoked_at)), 0)::bigint as revoked_at
  from api_keys`

function renderKey(row: KeyRow) {
  const { id, name, identifier, permissions, station_permissions: byStation, dialect, ...times } = row
  const stations = Object.entries(byStation).map(([station, granted]) => ({
    station: Number(station),
    permissions: granted
  }))
  const own = dialect === null ? {} : { dialect }
  return { id, name, identifier, permissions, station_permissions: stations, ...times, ...own }
}

const seconds = (about: string): JsonSchema => ({ ...int64, description: `Unix seconds; ${about}` })

const requiredFields = {
  id: int64,
  name: string,
  identifier: {
    type: 'string',
    pattern: apiKeyIdentifierPattern.source,
    description: 'The first half of the key.'
  },
  permissions: arrayOf(string),
  station_permissions: arrayOf(exactObject({ station: int64, permissions: arrayOf(string) })),
  created_at: seconds('when it was created.'),
  expires_at: seconds('0: it does not expire.'),
  last_used_at: seconds('to within half a minute; 0: never used.'),
  revoked_at: seconds('0: it is not revoked.')
}
/** A key as it is shown, without its secret. */
const apiKeySchema: JsonSchema = namedSchema(
  'ApiKey',
  'An API key, without its secret. Times are 0 if they do not apply.',
  {
    ...exactObject(requiredFields),
    properties: {
      ...requiredFields,
      dialect: { ...string, enum: dialectNames, description: 'Absent: that of the installation.' }
    }
  }
)
const record = apiKeySchema

const list = listRoute(path, access, {
  id: 'listApiKeys',
  tag,
  summary: 'All API keys, without their secrets',
  name: 'api_keys',
  record,
  sort: ['id', 'name'],
  open(query, _, { reads: sql }) {
    const contains = containsTextFragment(sql, query.search)
    const where = sql`where name ${contains} or identifier ${contains}`
    const order = sql`order by ${sql(query.sort ?? 'id')} ${query.isDescending ? sql`desc` : sql``}, id`
    return {
      select: sql`${selectKeys(sql)} ${where} ${order}`,
      matching: sql`select from api_keys ${where}`,
      render: (rows: readonly KeyRow[]) => rows.map(renderKey)
    }
  }
})

const current = apiRoute('GET', `${path}/current`, 'any key', {
  id: 'getCurrentApiKey',
  tag,
  summary: 'The API key of the request, and its effective permissions',
  response: accountLevelSchema({
    api_key: record,
    effective_permissions: effectivePermissionsSchema
  }),
  async handle({ caller }, { reads: sql }) {
    const key = caller?.key
    const [row] = key ? await sql<KeyRow[]>`${selectKeys(sql)} where id = ${key.id}` : []
    if (!key || !row) throw new ApiError('forbidden')
    return accountLevelReply({
      api_key: renderKey(row),
      effective_permissions: await readEffectivePermissions(sql, key)
    })
  }
})

const create = actionRoute('POST', path, access, {
  id: 'createApiKey',
  tag,
  summary: 'Create an API key; only this response contains it',
  body: bodySchema(newApiKeyFields),
  response: accountLevelSchema({
    key: { type: 'string', pattern: '^[0-9a-f]{16}:[0-9a-f]{32}$', description: 'Returned once.' },
    api_key: record
  }),
  async prepare(request, { sql }) {
    const newKey = await validateNewApiKey(sql, request)
    const key = generateApiKey()
    return async tx => {
      const id = await storeApiKey(tx, key, newKey)
      const [stored] = await tx<KeyRow[]>`${selectKeys(tx)} where id = ${id}`
      if (!stored) throw new Error('insert returned no row')
      const shown = renderKey(stored)
      return {
        audit: [
          {
            record: 'ApiKey',
            id: stored.id,
            name: stored.name,
            changes: toAuditedChanges(newApiKeyFields, null, { ...shown })
          }
        ],
        reply: accountLevelReply({ key, api_key: shown })
      }
    }
  }
})

const revoke = actionRoute('POST', `${path}/revoke/:key`, access, {
  id: 'revokeApiKey',
  tag,
  summary: 'Revoke an API key by its first half, the whole key or its id; idempotent',
  response: accountLevelSchema({ api_key: record }),
  errors: [409],
  prepare(request, { keys }) {
    const replyWith = (row: KeyRow) => () => {
      keys.forget(({ id }) => id === row.id)
      return accountLevelReply({ api_key: renderKey(row) })
    }
    return async tx => {
      // Serialized, so that the last two keys with all permissions cannot revoke each other.
      await tx`select pg_advisory_xact_lock(hashtext('cuewire admin key'))`
      const found = await getKey(tx, request.params['key'] ?? '')
      if (!mayRevoke(request, found)) throw new ApiError('forbidden')
      if (found.revoked_at !== 0) return { audit: [], reply: replyWith(found) }
      await assertNotLastAdministrator(tx, found.id)
      await tx`update api_keys set revoked_at = now() where id = ${found.id}`
      const [revoked = found] = await tx<KeyRow[]>`${selectKeys(tx)} where id = ${found.id}`
      return {
        audit: [
          { record: 'ApiKey', id: found.id, name: found.name, changes: changedWithoutValues('revoked_at') }
        ],
        reply: replyWith(revoked)
      }
    }
  }
})

/** Finds and locks a key by the whole key, its first half or its id. Throws 404. */
async function getKey(tx: Tx, name: string): Promise<KeyRow> {
  const key = parseApiKey(name)
  const condition = key
    ? tx`identifier = ${key.identifier} and verifier = ${key.verifier}`
    : apiKeyIdentifierPattern.test(name)
      ? tx`identifier = ${name}`
      : tx`id = ${parsePathId(name)}`
  const [row] = await tx<KeyRow[]>`${selectKeys(tx)} where ${condition} for update`
  if (!row) throw new ApiError('not-found')
  return row
}

/** Whether the caller has all permissions of the key, or the key is its own. */
function mayRevoke({ caller }: ApiRequest, { id, permissions, ...row }: KeyRow): boolean {
  const key = caller?.key
  if (!key) return false
  return key.id === id || mayGrantAll(key, { permissions, stationPermissions: row.station_permissions })
}

/** Throws 409 if no other key with all permissions would remain that does not expire. */
async function assertNotLastAdministrator(tx: Tx, id: number): Promise<void> {
  const administrators = await tx<{ id: number; isLasting: boolean }[]>`
    select id, expires_at is null as "isLasting" from api_keys
    where permissions ? 'administer all' and revoked_at is null and (expires_at is null or expires_at > now())`
  const isAdministrator = administrators.some(each => each.id === id)
  if (!isAdministrator || administrators.some(each => each.id !== id && each.isLasting)) return
  const message = 'This is the last key with all permissions: create another one first.'
  throw ApiError.ofFields([{ field: 'key', code: 'in_use', message }], 'conflict')
}

export const apiKeyRoutes = [list, current, create, revoke]
