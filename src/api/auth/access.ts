import { type NotificationSource, notificationSources } from '../../stores/db/notifications.ts'

// Decides what a caller may do and see. `core/admission.ts` checks the permission that a route declares; all other
// differences between callers are decided by the functions here.

const stationSpecific = [
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

const installationWide = [
  'view administration',
  'view system logs',
  'administer settings',
  'administer api keys',
  'administer stations',
  'administer custom fields',
  'administer backups',
  'administer storage locations'
] as const

/** Permissions that a key may have everywhere; those of stations then apply to every station. */
export const globalPermissions = [
  'administer all',
  'view all',
  ...installationWide,
  ...stationSpecific
] as const

export type Permission = (typeof globalPermissions)[number]

/** Permissions that a key may have for one station. */
export const stationPermissions = ['administer all', 'view all', ...stationSpecific] as const

/** What each permission allows, for people who choose them. */
export const permissionDescriptions: Readonly<Record<Permission, string>> = {
  'administer all': 'Do everything',
  'view all': 'See everything, change nothing',
  'view administration': 'See the state of the installation and its notifications',
  'view system logs': 'See the audit log',
  'administer settings': 'Manage users, roles, news and notifications',
  'administer api keys': 'Create and revoke API keys',
  'administer stations': 'Create, delete and manage all stations',
  'administer custom fields': 'Manage the custom fields of songs',
  'administer backups': 'Manage backups',
  'administer storage locations': 'Manage where files are stored',
  'view station management': 'See playlists, queue, songs and settings of the station',
  'view station reports': 'See history, requests and listeners',
  'view station logs': 'See the logs of the station',
  'manage station profile': 'Change name, description and public pages',
  'manage station broadcasting': 'Control playback: skip songs, change the queue, answer requests',
  'manage station streamers': 'Manage the accounts of live DJs',
  'manage station mounts': 'Manage mount points and HLS streams',
  'manage station remotes': 'Manage relays',
  'manage station media': 'Upload and edit songs, change playlists',
  'delete station media': 'Delete songs',
  'manage station automation': 'Change how the AutoDJ assigns songs',
  'manage station web hooks': 'Manage web hooks, and see their secrets and logs',
  'manage station podcasts': 'Manage podcasts'
}

/** Whether this version knows a stored permission. */
function isPermission(text: string): text is Permission {
  return globalPermissions.some(permission => permission === text)
}

/** Whether a stored permission may apply to one station. */
export function mayApplyToStation(text: string): boolean {
  return stationPermissions.some(permission => permission === text)
}

/** Permissions as stored, those of stations by id. Some may be unknown to this version. */
export interface Grants {
  readonly permissions: readonly string[]
  readonly stationPermissions: Readonly<Record<string, readonly string[]>>
}

/** The permission that a request requires, for a station or (null) everywhere. */
export interface RequiredPermission {
  readonly permission: Permission
  readonly stationId: number | null
  readonly isRead: boolean
}

/** Whether the grants include a permission. */
export function hasPermission(grants: Grants, required: RequiredPermission): boolean {
  const { stationId } = required
  if (grants.permissions.some(granted => includes(granted, required))) return true
  if (stationId === null || !Object.hasOwn(grants.stationPermissions, stationId)) return false
  const granted = grants.stationPermissions[stationId] ?? []
  return granted.some(each => each !== 'administer stations' && includes(each, required))
}

/** Whether a caller may grant a permission, for a station or (null) everywhere: only one that it has. */
export function mayGrant(grants: Grants, permission: Permission, stationId: number | null): boolean {
  if (stationId !== null && grants.permissions.includes('administer stations')) return true
  return hasPermission(grants, { permission, stationId, isRead: permission.startsWith('view ') })
}

/** Whether a caller may grant all permissions of a key. */
export function mayGrantAll(caller: Grants, { permissions, stationPermissions: byStation }: Grants): boolean {
  const mayGrantEach = (names: readonly string[], stationId: number | null) =>
    names.every(name => isPermission(name) && mayGrant(caller, name, stationId))
  return (
    mayGrantEach(permissions, null) &&
    Object.entries(byStation).every(([stationId, names]) => mayGrantEach(names, Number(stationId)))
  )
}

/** Whether a caller may see a private station: any permission for it is enough. */
export function maySeePrivateStation(grants: Grants, stationId: number): boolean {
  return (
    grants.permissions.some(isStationPermission) ||
    hasPermission(grants, { permission: 'view station management', stationId, isRead: true }) ||
    (grants.stationPermissions[stationId]?.length ?? 0) > 0
  )
}

/** Whether a caller (null: without a key) may know that a station exists. */
export function maySeeStation(
  grants: Grants | null,
  { id, isPublic }: { readonly id: number; readonly isPublic: boolean }
): boolean {
  return isPublic || (grants !== null && maySeePrivateStation(grants, id))
}

/** The permissions with which a caller may read and write, for a station or (null) everywhere. */
export function computeEffectivePermissions(grants: Grants, stationId: number | null) {
  const names: readonly Permission[] = stationId === null ? globalPermissions : stationPermissions
  const allowed = (isRead: boolean) =>
    names.filter(permission => hasPermission(grants, { permission, stationId, isRead }))
  return { read: allowed(true), write: allowed(false) }
}

/** The permission, for everything, that the notifications of each source require. */
const sourcePermissions: Readonly<Record<NotificationSource, Permission>> = {
  operator: 'view administration',
  broadcast: 'view station management',
  playout: 'view station management',
  storage: 'administer storage locations',
  webhooks: 'manage station web hooks',
  system: 'view administration'
}

/** The sources of notifications that a caller may see; null: all, including unknown ones. */
export function visibleNotificationSources(grants: Grants): readonly NotificationSource[] | null {
  if (mayRead(grants, 'view all', null)) return null
  return notificationSources.filter(source => mayRead(grants, sourcePermissions[source], null))
}

/** Whether a caller may see unpublished articles. */
export function maySeeDraftArticles(grants: Grants | null): boolean {
  return mayRead(grants, 'administer settings', null)
}

/** Whether a caller may see the addresses of listeners who requested songs. */
export function maySeeListenerAddresses(grants: Grants | null, stationId: number): boolean {
  return mayRead(grants, 'manage station broadcasting', stationId)
}

function mayRead(grants: Grants | null, permission: Permission, stationId: number | null): boolean {
  return grants !== null && hasPermission(grants, { permission, stationId, isRead: true })
}

/** Whether addresses are not redacted: only for callers with the permission to write them. */
export function maySeeUnredactedUrls(
  grants: Grants | null,
  permission: Permission,
  stationId: number | null
): boolean {
  return grants !== null && hasPermission(grants, { permission, stationId, isRead: false })
}

/** Permissions that include the permission to read what they write. */
const writers: Partial<Record<Permission, readonly string[]>> = {
  'view station management': [
    'manage station media',
    'delete station media',
    'manage station mounts',
    'manage station broadcasting'
  ],
  'view station reports': ['manage station broadcasting'],
  'view administration': ['administer custom fields', 'administer settings', 'administer storage locations']
}

function includes(granted: string, { permission, isRead }: RequiredPermission): boolean {
  if (granted === permission || granted === 'administer all') return true
  if (granted === 'view all') return isRead
  if (granted === 'administer stations' && isStationPermission(permission)) return true
  return writers[permission]?.includes(granted) ?? false
}

const isStationPermission = (text: string) => stationSpecific.some(each => each === text)
