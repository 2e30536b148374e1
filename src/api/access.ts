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
export interface Need {
  readonly permission: Permission
  readonly stationId: number | null
  readonly isRead: boolean
}

/** Whether the rights include what is needed. */
export function allows({ permissions, stationPermissions: byStation }: Rights, need: Need): boolean {
  if (permissions.some(held => includes(held, need))) return true
  if (need.stationId === null) return false
  const held = Object.hasOwn(byStation, need.stationId) ? (byStation[need.stationId] ?? []) : []
  return held.some(right => right !== 'administer stations' && includes(right, need))
}

/**
 * Whether somebody with these rights may hand a right on, for a station or (null) everywhere: nobody gives away more
 * than they hold.
 */
export function mayGrant(rights: Rights, permission: Permission, stationId: number | null): boolean {
  if (stationId !== null && rights.permissions.includes('administer stations')) return true
  return allows(rights, { permission, stationId, isRead: permission.startsWith('view ') })
}

/** Whether the rights say anything about a station: then its private pages are open to them. */
export function mayListenTo(rights: Rights, stationId: number): boolean {
  const need: Need = { permission: 'view station management', stationId, isRead: true }
  const isForAll = rights.permissions.some(isStationRight)
  return isForAll || allows(rights, need) || (rights.stationPermissions[stationId]?.length ?? 0) > 0
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
  'view administration': ['administer custom fields']
}

function includes(held: string, { permission, isRead }: Need): boolean {
  if (held === permission || held === 'administer all') return true
  if (held === 'view all') return isRead
  if (held === 'administer stations' && isStationRight(permission)) return true
  return reads[permission]?.includes(held) ?? false
}

const stationRightNames: ReadonlySet<string> = new Set(stationRights)
const isStationRight = (text: string) => stationRightNames.has(text)
