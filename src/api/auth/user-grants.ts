import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { type Grants, mayApplyToStation } from './access.ts'

/** What a user may do follows from these columns: see `userGrantColumns`. */
export interface UserGrantRow {
  readonly roles: readonly Grants[]
  /** Ids of the stations that the roles are limited to; null: all. */
  readonly stations: readonly number[] | null
}

/** Columns of a statement in which `u` is the table of users. */
export const userGrantColumns = (sql: Sql | Tx): Fragment => sql`
  u.stations,
  coalesce((
    select jsonb_agg(jsonb_build_object('permissions', r.permissions, 'stationPermissions', r.station_permissions))
    from user_roles ur join roles r on r.id = ur.role_id where ur.user_id = u.id), '[]') as roles`

/**
 * The permissions of a user: those of all roles together. With a limit, they apply to its stations only, and
 * permissions for the whole installation do not apply.
 */
export function combineRoleGrants({ roles, stations }: UserGrantRow): Grants {
  const permissions = distinct(roles.flatMap(role => role.permissions))
  const stationIds = stations ?? roles.flatMap(role => Object.keys(role.stationPermissions).map(Number))
  const everywhere = stations === null ? [] : permissions.filter(mayApplyToStation)
  const byStation = distinct(stationIds).map(id => {
    const own = roles.flatMap(role => role.stationPermissions[id] ?? [])
    return [String(id), distinct([...everywhere, ...own])] as const
  })
  return {
    permissions: stations === null ? permissions : [],
    stationPermissions: Object.fromEntries(byStation.filter(([, granted]) => granted.length > 0))
  }
}

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]
