import type { Sql } from '../../stores/db/sql.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'
import { computeEffectivePermissions, globalPermissions, type Grants } from './access.ts'

const permissionNames = arrayOf({ type: 'string', enum: [...globalPermissions] })

export const effectivePermissionsSchema = exactObject({
  read: { ...permissionNames, description: 'Permissions to read, for all stations.' },
  write: { ...permissionNames, description: 'Permissions to change, for all stations.' },
  stations: {
    ...arrayOf(
      exactObject({ station: int64, short_name: string, read: permissionNames, write: permissionNames })
    ),
    description: 'The stations for which it has additional permissions.'
  }
})

/** Reads what a caller may read and write, for all stations and for single ones. */
export async function readEffectivePermissions(sql: Sql, grants: Grants) {
  const rows = await sql<{ station: number; short_name: string }[]>`
    select id as station, short_name from stations
    where id = any(${Object.keys(grants.stationPermissions).map(Number)}::bigint[]) and deleted_at is null order by id`
  const stations = rows.map(each => ({ ...each, ...computeEffectivePermissions(grants, each.station) }))
  return { ...computeEffectivePermissions(grants, null), stations }
}
