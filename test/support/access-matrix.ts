import { globalPermissions, type Permission, stationPermissions } from '../../src/api/auth/access.ts'
import type { HandledRoute } from '../../src/api/core/route.ts'
import { apiRoutes } from '../../src/api/routes.ts'
import { pageRoutes } from '../../src/pages/routes.ts'

export type AnyRoute = HandledRoute

/** Every route of a server. */
export const everyRoute: readonly AnyRoute[] = [...apiRoutes, ...pageRoutes]

/** Routes that the matrix cannot call, with the reason. */
export const uncalled: Readonly<Record<string, string>> = {
  'POST /api/station/:station_id/schedule/simulation': 'takes seconds: schedule-simulation.test.ts',
  'GET /api/live/nowplaying/sse': 'streams until the client leaves: live-streams.test.ts',
  'POST /api/live/nowplaying/sse': 'streams until the client leaves: live-streams.test.ts',
  'POST /api/live/nowplaying/http_stream': 'streams until the client leaves: live-streams.test.ts'
}

export const nameOf = ({ method, path }: AnyRoute) => `${method} ${path}`

export const isAboutStation = ({ path }: AnyRoute) => path.includes(':station_id')

/** The path of a route with these parameters. All other parameters are 0, which no record has as id. */
export function pathOf({ path }: AnyRoute, station: string | number): string {
  return path.replace(/:(\w+)/g, (_, name: string) => (name === 'station_id' ? String(station) : '0'))
}

/**
 * A caller, by the permissions of its key: everywhere, at the `own` station, and at the `other` one. Null
 * means no key.
 */
export interface CallerKind {
  readonly name: string
  readonly permissions: {
    readonly everywhere?: readonly Permission[]
    readonly own?: readonly Permission[]
    readonly other?: readonly Permission[]
  } | null
}

const fewCallers: readonly CallerKind[] = [
  { name: 'no key', permissions: null },
  { name: 'a key without permissions', permissions: {} },
  { name: 'all permissions at another station', permissions: { other: ['administer all'] } },
  { name: 'all permissions', permissions: { everywhere: ['administer all'] } }
]

/** Every kind of caller. */
export const everyCaller: readonly CallerKind[] = [
  ...fewCallers,
  ...globalPermissions.map(permission => ({
    name: `${permission} everywhere`,
    permissions: { everywhere: [permission] }
  })),
  ...stationPermissions.map(permission => ({
    name: `${permission} at the station`,
    permissions: { own: [permission] }
  }))
]

/** A selection of callers for a quick run. */
export const typicalCallers: readonly CallerKind[] = [
  ...fewCallers,
  { name: 'a permission at the station', permissions: { own: ['view station reports'] } }
]

/**
 * A selection of routes for a quick run: two of each kind that the authorizer distinguishes, and all public ones, since
 * their handlers check access themselves.
 */
export const typicalRoutes: readonly AnyRoute[] = everyRoute.filter((route, index) => {
  const kind = kindOf(route)
  const before = everyRoute.slice(0, index).filter(each => kindOf(each) === kind)
  return route.access === 'public' || before.length < 2
})

function kindOf(route: AnyRoute): string {
  const { access, method, changes = false, isSameOriginOnly = false } = route
  return [access, method === 'GET' && !changes, isSameOriginOnly, isAboutStation(route)].join()
}

/** Whether unknown fields of its body are listed: not the content of an upload, nor an object of any fields. */
export function listsUnknownFields({ method, byteTypes, isStreamed, operation }: AnyRoute): boolean {
  const { body } = operation ?? {}
  const hasAnyField = typeof body?.['additionalProperties'] === 'object'
  const takesBytes = byteTypes || body?.['format'] === 'binary' || (isStreamed && body === undefined)
  return ['POST', 'PUT'].includes(method) && !hasAnyField && !takesBytes
}

const unknownField = { 'no such field': 1 }
const takesList = ({ operation }: AnyRoute) => operation?.body?.['type'] === 'array'

/** A body with a field that no route knows. */
export const unknownBodyOf = (route: AnyRoute) => (takesList(route) ? [unknownField] : unknownField)

/** How a route that lists unknown fields lists that one. */
export const unknownFieldOf = (route: AnyRoute) => `${takesList(route) ? '0.' : ''}no%20such%20field`

export type Outcome = 'allowed' | 'refused' | 'key required' | 'hidden'

/** A permission to write that includes a permission to read. */
const included: Readonly<Record<string, readonly string[]>> = {
  'view station management': [
    'manage station media',
    'delete station media',
    'manage station mounts',
    'manage station broadcasting'
  ],
  'view station reports': ['manage station broadcasting'],
  'view administration': ['administer custom fields', 'administer settings', 'administer storage locations']
}

const isOfStation = (permission: string) => /^(view|manage|delete) station /.test(permission)

/** Returns the expected outcome of a request about a station, by the declared access of the route. */
export function expectedOutcome(route: AnyRoute, caller: CallerKind, isPrivate: boolean): Outcome {
  const { access, method, changes = false } = route
  const { permissions } = caller
  const isHidden = isAboutStation(route) && isPrivate && !seesPrivate(permissions)
  if (access === 'playout key') return 'refused'
  // The matrix calls without the header of the pages of this server.
  if (route.isSameOriginOnly) return 'refused'
  if (access === 'public') return isHidden ? 'hidden' : 'allowed'
  if (permissions === null) return 'key required'
  if (isHidden) return 'hidden'
  if (access === 'any key') return 'allowed'
  const isRead = method === 'GET' && !changes
  const held = [...(permissions.everywhere ?? []), ...(isAboutStation(route) ? (permissions.own ?? []) : [])]
  const isHeld = held.some(
    permission =>
      permission === access ||
      permission === 'administer all' ||
      (permission === 'view all' && isRead) ||
      (permission === 'administer stations' && isOfStation(access)) ||
      included[access]?.includes(permission)
  )
  return isHeld ? 'allowed' : 'refused'
}

function seesPrivate(permissions: CallerKind['permissions']): boolean {
  const { everywhere = [], own = [] } = permissions ?? {}
  const opening = ['administer all', 'view all', 'administer stations']
  return (
    own.length > 0 || everywhere.some(permission => opening.includes(permission) || isOfStation(permission))
  )
}
