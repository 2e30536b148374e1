import type { ReactiveControllerHost } from 'lit'

import { toApiRequestError } from './api-error.ts'
import { callApi, currentCaller } from './call-api.ts'
import type { GetMyPermissionsAnswer } from './responses.ts'

/** What the dashboard shows or offers, and the permission of the key that this requires. */
const requirements = {
  viewQueue: ['read', 'view station management'],
  viewReports: ['read', 'view station reports'],
  viewHooks: ['read', 'manage station web hooks'],
  viewStreamers: ['read', 'manage station streamers'],
  viewInstallation: ['read', 'view administration'],
  viewAudit: ['read', 'view system logs'],
  viewStorage: ['read', 'administer storage locations'],
  viewMedia: ['read', 'manage station media'],
  viewRemotes: ['read', 'manage station remotes'],
  viewKeys: ['read', 'administer api keys'],
  viewStations: ['read', 'administer stations'],
  viewProfile: ['read', 'manage station profile'],
  viewFields: ['read', 'view administration'],
  manageStations: ['write', 'administer stations'],
  manageProfile: ['write', 'manage station profile'],
  manageMounts: ['write', 'manage station mounts'],
  manageRemotes: ['write', 'manage station remotes'],
  manageMedia: ['write', 'manage station media'],
  manageKeys: ['write', 'administer api keys'],
  manageStorage: ['write', 'administer storage locations'],
  manageFields: ['write', 'administer custom fields'],
  manageNews: ['write', 'administer settings'],
  deleteMedia: ['write', 'delete station media'],
  controlPlayback: ['write', 'manage station broadcasting'],
  manageStreamers: ['write', 'manage station streamers'],
  manageHooks: ['write', 'manage station web hooks'],
  manageNotifications: ['write', 'administer settings'],
  managePeople: ['write', 'administer settings']
} as const satisfies Readonly<Record<string, readonly [access: 'read' | 'write', permission: string]>>

/** What the dashboard shows or offers if the key has the permission. */
export type DashboardFeature = keyof typeof requirements

const retryMs = 10_000

/**
 * Loads the permissions of the current key or user, and again when it changes. `station` is an id or short name,
 * evaluated at every call of `allows`; '' for permissions that belong to no station.
 */
export function watchPermissions(host: ReactiveControllerHost, station: () => string | number) {
  let key: string | null = null
  let permissions: KeyPermissions | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    const loadedKey = key
    const loaded = await readPermissions().catch(() => null)
    if (loadedKey !== key) return
    if (loaded === null) timer = setTimeout(() => void load(), retryMs)
    else permissions = loaded
    host.requestUpdate()
  }

  host.addController({
    hostUpdate: () => {
      if (key === currentCaller()) return
      key = currentCaller()
      permissions = null
      clearTimeout(timer)
      void load()
    },
    hostDisconnected: () => {
      clearTimeout(timer)
      // Loaded permissions stay: an element that moves in the list is disconnected for a moment.
      if (permissions === null) key = null
    }
  })
  return {
    /** False until the permissions are known. */
    allows: (feature: DashboardFeature): boolean => {
      if (permissions === null) return false
      const [access, permission] = requirements[feature]
      const name = String(station())
      const own = permissions.stations.find(each => each.short_name === name || String(each.station) === name)
      return permissions[access].includes(permission) || (own?.[access].includes(permission) ?? false)
    },
    get isKnown(): boolean {
      return permissions !== null
    }
  }
}

type KeyPermissions = GetMyPermissionsAnswer['effective_permissions']

const noPermissions: KeyPermissions = { read: [], write: [], stations: [] }
const ttlMs = 60_000
let cache: { key: string; readAtMs: number; promise: Promise<KeyPermissions> } | null = null

/** Reads the permissions of the current key or user, cached for a minute. Rejects if the server does not respond. */
function readPermissions(): Promise<KeyPermissions> {
  const key = currentCaller()
  if (key === '') return Promise.resolve(noPermissions)
  if (cache?.key === key && Date.now() - cache.readAtMs < ttlMs) return cache.promise
  const promise = callApi('GET', 'api/frontend/account/permissions').then(
    response => response.effective_permissions,
    error => {
      const { status, isUnauthenticated } = toApiRequestError(error)
      // A session that has ended may continue.
      if (status === 403 && !isUnauthenticated) return noPermissions
      cache = null
      throw error
    }
  )
  cache = { key, readAtMs: Date.now(), promise }
  return promise
}
