import { stationPermissions } from '../../../auth/access.ts'
import {
  type DialectContext,
  isJsonBody,
  omitMembers,
  type OperationDialect,
  type RecordDialect
} from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'

interface StationGrant {
  readonly id: number
  readonly permissions: readonly string[]
}

type RoleRow = {
  readonly is_builtin: boolean
  readonly users: number
  readonly permissions: { readonly global: readonly string[]; readonly station: readonly StationGrant[] }
}

const ofStations: readonly string[] = stationPermissions

/** AzuraCast has no permission to see everything, and grants those of stations for single stations only. */
const isGlobal = (name: string) => name === 'administer all' || !ofStations.includes(name)
const isOfStation = (name: string) => name !== 'view all'

export const roleDialect: RecordDialect<RoleRow> = {
  response: schemaChanger({ omitted: ['is_builtin', 'users'] }),
  computed: ['id', 'is_super_admin', 'links'],
  render: rows =>
    rows.map(row => ({
      ...omitMembers(row, ['is_builtin', 'users']),
      permissions: {
        global: row.permissions.global.filter(isGlobal),
        station: row.permissions.station.map(each => ({
          ...each,
          permissions: each.permissions.filter(isOfStation)
        }))
      }
    })),
  async parse(body, context) {
    const { permissions } = body
    if (!isJsonBody(permissions)) return body
    const hidden = await readHidden(context)
    const { global, station, ...others } = permissions
    return {
      ...body,
      permissions: {
        ...others,
        ...('global' in permissions && { global: addHidden(global, hidden.global) }),
        ...('station' in permissions && { station: parseStations(station, hidden.station) })
      }
    }
  }
}

/** By id of the station, or as a list; each may have the form of the list as well. */
function parseStations(station: unknown, hidden: ReadonlyMap<number, readonly string[]>): unknown {
  const list: unknown = isJsonBody(station)
    ? Object.entries(station).map(([id, names]) =>
        isJsonBody(names) ? names : { id: Number(id), permissions: names }
      )
    : station
  if (!Array.isArray(list)) return list
  return list.map((each: unknown) =>
    isJsonBody(each)
      ? { ...each, permissions: addHidden(each['permissions'], hidden.get(Number(each['id'])) ?? []) }
      : each
  )
}

/** Permissions that are not shown are kept if the role is sent back as it was read. */
const addHidden = (names: unknown, hidden: readonly string[]): unknown =>
  Array.isArray(names) ? [...names, ...hidden] : names

interface Hidden {
  readonly global: readonly string[]
  readonly station: ReadonlyMap<number, readonly string[]>
}

async function readHidden({ sql, request }: DialectContext): Promise<Hidden> {
  const [stored] = await sql<{ global: string[]; station: Record<string, string[]> }[]>`
    select permissions as global, station_permissions as station from roles
    where id = ${Number(request.params['id']) || 0}`
  return {
    global: stored?.global.filter(name => !isGlobal(name)) ?? [],
    station: new Map(
      Object.entries(stored?.station ?? {}).map(([id, names]) => [
        Number(id),
        names.filter(name => !isOfStation(name))
      ])
    )
  }
}

interface RolePermissions {
  readonly global: readonly { readonly id: string }[]
  readonly station: readonly { readonly id: string }[]
}

export const listPermissionsDialect: OperationDialect<RolePermissions> = {
  reply: ({ global, station }) => ({
    global: global.filter(({ id }) => isGlobal(id)),
    station: station.filter(({ id }) => isOfStation(id))
  })
}
