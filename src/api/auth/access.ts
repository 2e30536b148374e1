import { type NotificationSource, notificationSources } from '../../db/notifications.ts'

/*
 * Decides what a caller may do and see. Routes declare the right that they require (`Route.access`), and `authorise.ts` applies
 * it; what else differs between callers is decided by the functions here.
 */

const stationRights = [
  'view station management',
  'view station reports',
  'view station logs',
  'manage station profile',
  'manage station broadcasting',
  'manage station streamers',
  'manage station mounts',
  'manage station remotes',
  'manage station media',
  'delete station media',
  'manage station automation',
  'manage station web hooks',
  'manage station podcasts'
] as const

const installationRights = [
  'view administration',
  'view system logs',
  'administer settings',
  'administer api keys',
  'administer stations',
  'administer custom fields',
  'administer backups',
  'administer storage locations'
] as const

export type StationRight = (typeof stationRights)[number]
export type Permission = StationRight | (typeof installationRights)[number] | 'administer all' | 'view all'

/** Rights a key may carry everywhere: a station's right then holds for every station. */
export const globalPermissions: readonly Permission[] = [
  'administer all',
  'view all',
  ...installationRights,
  ...stationRights
]

/** Rights a key may carry for one station. `view all` is every read, `administer all` everything there. */
export const stationPermissions: readonly Permission[] = ['administer all', 'view all', ...stationRights]

const permissionNames: ReadonlySet<string> = new Set(globalPermissions)

/** Whether a stored right is one that this version knows. */
export function isPermission(text: string): text is Permission {
  return permissionNames.has(text)
}

/** Rights as stored: some may be unknown to this version. Those of a station by its id. */
export interface Rights {
  readonly permissions: readonly string[]
  readonly stationPermissions: Readonly<Record<string, readonly string[]>>
}

/** What a request needs: a right, for a station or (null) the installation, to read or to write. */
export interface RequiredPermission {
  readonly permission: Permission
  readonly stationId: number | null
  readonly isRead: boolean
}

/** Whether the rights include what is needed. */
export function allows(
  { permissions, stationPermissions: byStation }: Rights,
  need: RequiredPermission
): boolean {
  if (permissions.some(held => includes(held, need))) return true
  if (need.stationId === null) return false
  const held = Object.hasOwn(byStation, need.stationId) ? (byStation[need.stationId] ?? []) : []
  return held.some(right => right !== 'administer stations' && includes(right, need))
}

/**
 * Whether somebody with these rights may hand a right on, for a station or (null) everywhere: nobody gives
 * away more than they hold.
 */
export function mayGrant(rights: Rights, permission: Permission, stationId: number | null): boolean {
  if (stationId !== null && rights.permissions.includes('administer stations')) return true
  return allows(rights, { permission, stationId, isRead: permission.startsWith('view ') })
}

/**
 * Whether the rights include any right for a station: then its holder may see it, also while it is private.
 */
export function maySeePrivate(rights: Rights, stationId: number): boolean {
  const need: RequiredPermission = { permission: 'view station management', stationId, isRead: true }
  const isForAll = rights.permissions.some(isStationRight)
  return isForAll || allows(rights, need) || (rights.stationPermissions[stationId]?.length ?? 0) > 0
}

/** What decides who may see a station. */
export interface StationVisibility {
  readonly id: number
  readonly isPublic: boolean
}

/** Whether a caller with these rights (null: without a key) may know that a station exists. */
export function maySeeStation(rights: Rights | null, { id, isPublic }: StationVisibility): boolean {
  return isPublic || (rights !== null && maySeePrivate(rights, id))
}

/** What a caller may read and write, each by the name of the permission that it requires. */
export interface EffectivePermissions {
  readonly read: readonly Permission[]
  readonly write: readonly Permission[]
}

/** What these rights allow at a station, or (null) everywhere. */
export function effectivePermissions(rights: Rights, stationId: number | null): EffectivePermissions {
  const names = stationId === null ? globalPermissions : stationPermissions
  const allowed = (isRead: boolean) =>
    names.filter(permission => allows(rights, { permission, stationId, isRead }))
  return { read: allowed(true), write: allowed(false) }
}

/**
 * The right that a notification of each source requires of its reader, for the installation and all stations.
 */
const sourceRights: Readonly<Record<NotificationSource, Permission>> = {
  operator: 'view administration',
  broadcast: 'view station management',
  playout: 'view station management',
  storage: 'administer storage locations',
  webhooks: 'manage station web hooks'
}

/**
 * The sources of the notifications that a caller may see; null: all, also those that this version does not
 * know.
 */
export function visibleSources(rights: Rights): readonly NotificationSource[] | null {
  const mayRead = (permission: Permission) => allows(rights, { permission, stationId: null, isRead: true })
  return mayRead('view all') ? null : notificationSources.filter(source => mayRead(sourceRights[source]))
}

/** Whether a caller may see articles that are not published. */
export function maySeeDrafts(rights: Rights | null): boolean {
  return (
    rights !== null && allows(rights, { permission: 'administer settings', stationId: null, isRead: true })
  )
}

/** Whether a caller may see the addresses of who requested songs: only who has to deal with listeners. */
export function maySeeAddresses(rights: Rights | null, stationId: number): boolean {
  return (
    rights !== null && allows(rights, { permission: 'manage station broadcasting', stationId, isRead: true })
  )
}

/**
 * Whether a caller may see whole the addresses in records that are written with a right: only who may set
 * them.
 */
export function maySeeWholeAddresses(
  rights: Rights | null,
  permission: Permission,
  stationId: number | null
): boolean {
  return rights !== null && allows(rights, { permission, stationId, isRead: false })
}

/** A right to write includes the right to read the same. */
const reads: Partial<Record<Permission, readonly string[]>> = {
  'view station management': [
    'manage station media',
    'delete station media',
    'manage station mounts',
    'manage station broadcasting'
  ],
  'view station reports': ['manage station broadcasting'],
  'view administration': ['administer custom fields', 'administer settings', 'administer storage locations']
}

function includes(held: string, { permission, isRead }: RequiredPermission): boolean {
  if (held === permission || held === 'administer all') return true
  if (held === 'view all') return isRead
  if (held === 'administer stations' && isStationRight(permission)) return true
  return reads[permission]?.includes(held) ?? false
}

const stationRightNames: ReadonlySet<string> = new Set(stationRights)
const isStationRight = (text: string) => stationRightNames.has(text)
