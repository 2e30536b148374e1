import type { ReactiveControllerHost } from 'lit'
import * as v from 'valibot'

import { asRefusal } from './api-error.ts'
import { callApi } from './call-api.ts'
import { keyOfTab } from './key.ts'

/** What a right of the dashboard requires of the key. */
type Requirement = readonly [access: 'read' | 'write', permission: string]

const ofStation = {
  queue: ['read', 'view station management'],
  reports: ['read', 'view station reports'],
  hooks: ['read', 'manage station web hooks'],
  streamers: ['read', 'manage station streamers'],
  /** To skip, and to change the queue. */
  steering: ['write', 'manage station broadcasting'],
  /** To try web hooks. */
  telling: ['write', 'manage station web hooks']
} as const satisfies Readonly<Record<string, Requirement>>

const ofInstallation = {
  storage: ['read', 'administer storage locations'],
  /** To mark and to delete notifications. */
  settling: ['write', 'administer settings']
} as const satisfies Readonly<Record<string, Requirement>>

export type StationRight = keyof typeof ofStation
export type InstallationRight = keyof typeof ofInstallation

const retryMs = 10_000

/** What the key may do; nothing until that is known. */
export interface Rights<Right> {
  readonly may: (right: Right) => boolean
  readonly isKnown: boolean
}

/**
 * What the key may do at a station, which is named by its id or short name at every drawing of the element.
 */
export const stationRightsFor = (host: ReactiveControllerHost, station: () => string): Rights<StationRight> =>
  rightsFor(host, ofStation, station)

/** What the key may do beside stations. */
export const installationRightsFor = (host: ReactiveControllerHost): Rights<InstallationRight> =>
  rightsFor(host, ofInstallation, () => null)

function rightsFor(
  host: ReactiveControllerHost,
  requirements: Readonly<Record<string, Requirement>>,
  station: () => string | null
): Rights<string> {
  let key: CurrentKey | null = null
  let askedFor: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  async function learn(): Promise<void> {
    const apiKey = askedFor
    const found = await readCurrentKey().catch(() => null)
    if (apiKey !== askedFor) return
    if (found === null) timer = setTimeout(() => void learn(), retryMs)
    else key = found
    host.requestUpdate()
  }

  host.addController({
    hostUpdate: () => {
      if (askedFor === keyOfTab()) return
      askedFor = keyOfTab()
      key = null
      clearTimeout(timer)
      void learn()
    },
    hostDisconnected: () => {
      clearTimeout(timer)
      askedFor = null
    }
  })
  return {
    may: right => {
      const [access, permission] = requirements[right] ?? []
      if (key === null || access === undefined || permission === undefined) return false
      const own = key.stations.find(
        each => each.short_name === station() || String(each.station) === station()
      )
      return key[access].includes(permission) || (own?.[access].includes(permission) ?? false)
    },
    get isKnown() {
      return key !== null
    }
  }
}

const names = v.array(v.string())
const currentKey = v.object({
  effective_permissions: v.object({
    read: names,
    write: names,
    stations: v.array(v.object({ station: v.number(), short_name: v.string(), read: names, write: names }))
  })
})
type CurrentKey = v.InferOutput<typeof currentKey>['effective_permissions']

const noPermissions: CurrentKey = { read: [], write: [], stations: [] }
const ttlMs = 60_000
let cached: { readonly apiKey: string; readonly atMs: number; readonly key: Promise<CurrentKey> } | null =
  null

/** What the key of the tab may do, asked once a minute at most. Rejects if the server did not answer. */
function readCurrentKey(): Promise<CurrentKey> {
  const apiKey = keyOfTab()
  if (apiKey === '') return Promise.resolve(noPermissions)
  if (cached?.apiKey === apiKey && Date.now() - cached.atMs < ttlMs) return cached.key
  const key = callApi(currentKey, 'api/v1/main/api-keys/current').then(
    answer => answer.effective_permissions,
    error => {
      if (asRefusal(error).status === 403) return noPermissions
      cached = null
      throw error
    }
  )
  cached = { apiKey, atMs: Date.now(), key }
  return key
}
