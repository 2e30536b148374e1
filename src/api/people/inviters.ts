import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { hasPermission, type Grants, mayGrantAll } from '../auth/access.ts'
import { combineRoleGrants, type UserGrantRow, userGrantColumns } from '../auth/user-grants.ts'
import type { ApiRequest } from '../core/route.ts'
import { peopleAccess } from './people.ts'

/** Who makes an invitation: a user, also by a key of theirs, or a key that belongs to nobody. */
export function toInviter({ caller }: ApiRequest) {
  const user = caller?.key?.user ?? null
  return { userId: user?.id ?? null, keyId: user === null ? (caller?.key?.id ?? null) : null }
}

/** What an invitation gives, and what its maker may do now: see `inviterColumns`. */
export interface InviterRow {
  /** False for invitations of releases that did not store it. */
  readonly hasInviter: boolean
  readonly inviterUser: UserGrantRow | null
  readonly inviterKey: Grants | null
  readonly given: UserGrantRow
}

/** Columns of a statement that reads `invitations`. */
export const inviterColumns = (sql: Sql | Tx): Fragment => sql`
  coalesce(inviter_user_id, inviter_key_id) is not null as "hasInviter",
  (select to_jsonb(g) from (select ${userGrantColumns(sql)} from users u where u.id = inviter_user_id) g) as "inviterUser",
  (select jsonb_build_object('permissions', k.permissions, 'stationPermissions', k.station_permissions) from api_keys k
    where k.id = inviter_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())) as "inviterKey",
  jsonb_build_object('stations', stations, 'roles', coalesce((
    select jsonb_agg(jsonb_build_object('permissions', r.permissions, 'stationPermissions', r.station_permissions))
    from roles r where invitations.roles @> to_jsonb(r.id)), '[]')) as given`

/** Whether an invitation gives more than its maker may give now, which is nothing if they are gone. */
export function exceedsInviter({ hasInviter, inviterUser, inviterKey, given }: InviterRow): boolean {
  if (!hasInviter) return false
  const inviter = inviterUser === null ? inviterKey : combineRoleGrants(inviterUser)
  if (
    inviter === null ||
    !hasPermission(inviter, { permission: peopleAccess, stationId: null, isRead: false })
  )
    return true
  return !mayGrantAll(inviter, combineRoleGrants(given))
}
