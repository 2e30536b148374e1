const stationSections = [
  'now',
  'media',
  'playlists',
  'schedule',
  'queue',
  'reports',
  'hooks',
  'streamers',
  'mounts',
  'remotes',
  'sftp',
  'settings'
] as const
export type StationSection = (typeof stationSections)[number]

const installationSections = [
  'stations',
  'keys',
  'people',
  'storage',
  'fields',
  'news',
  'audit',
  'system',
  'start',
  'account'
] as const
export type InstallationSection = (typeof installationSections)[number]

/** The sections whose forms have addresses: `new`, or the id of a record. */
const formSections: ReadonlySet<string> = new Set<StationSection | InstallationSection>([
  'playlists',
  'hooks',
  'streamers',
  'mounts',
  'remotes',
  'sftp',
  'keys',
  'people',
  'storage',
  'fields',
  'news'
])

/** What the address names in a section. */
export interface RoutePlace {
  /** The record in the form: its id, or `new`; '' if none is open. */
  readonly item: string
  /** The folder of the media; '' is the top. */
  readonly folder: string
}

/** The view that the fragment of the URL names. */
export type DashboardRoute =
  | ({ readonly view: 'installation'; readonly section: InstallationSection } & RoutePlace)
  | { readonly view: 'not-found' }
  | { readonly view: 'join'; readonly token: string }
  | ({ readonly view: 'station'; readonly station: string; readonly section: StationSection } & RoutePlace)

/**
 * Parses `#/{section}/{item}`, `#/join/{token}`, `#/station/{short name}/{section}/{item}` and
 * `#/station/{short name}/media/{folders}?file={id}`. The first section of the installation and of a station
 * is the default; items and folders may be omitted.
 */
export function parseDashboardRoute(hash: string): DashboardRoute {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2)
  const names = decodeNames(path.split('/').slice(1))
  if (names === null) return notFound
  const [view = '', name = '', ...rest] = names
  if (view === 'join' && name !== '' && rest.length === 0) return { view, token: name }
  if (view === 'station') return parseStationRoute(name, rest, new URLSearchParams(query))
  const section = installationSections.find(each => each === (view || 'stations'))
  if (section === undefined) return notFound
  const item = parseItem(section, names.slice(1))
  return item === null ? notFound : { view: 'installation', section, item, folder: '' }
}

const notFound: DashboardRoute = { view: 'not-found' }

function parseStationRoute(
  station: string,
  [sectionName = '', ...rest]: readonly string[],
  query: URLSearchParams
): DashboardRoute {
  const section = stationSections.find(each => each === (sectionName || 'now'))
  if (station === '' || section === undefined) return notFound
  if (section === 'media') {
    const item = query.get('file') ?? ''
    if (!/^\d{0,15}$/.test(item)) return notFound
    // Absolute paths and URLs have empty names, at their begin and after the scheme.
    return { view: 'station', station, section, item, folder: rest.join('/').replace(/\/+$/, '') }
  }
  const item = parseItem(section, rest)
  return item === null ? notFound : { view: 'station', station, section, item, folder: '' }
}

/** Returns '' if the address names no item, and null if it names one in a section without items. */
function parseItem(section: string, names: readonly string[]): string | null {
  if (names.length === 0) return ''
  const [item = ''] = names
  return names.length === 1 && item !== '' && formSections.has(section) ? item : null
}

/** Returns null if a name is not encoded correctly. */
function decodeNames(names: readonly string[]): string[] | null {
  try {
    return names.map(decodeURIComponent)
  } catch {
    return null
  }
}

/** Whether both routes show the same section, perhaps with another folder or another form. */
export function isSameSection(one: DashboardRoute, other: DashboardRoute): boolean {
  const withoutPlace = (route: DashboardRoute) => JSON.stringify({ ...route, item: '', folder: '' })
  return withoutPlace(one) === withoutPlace(other)
}

/** Whether a form that is open on the first route stays open on the other one. */
export function keepsFormOpen(one: DashboardRoute, other: DashboardRoute): boolean {
  const withoutFolder = (route: DashboardRoute) => JSON.stringify({ ...route, folder: '' })
  return withoutFolder(one) === withoutFolder(other)
}

/** The link to a section of the installation, or to the form of an item there. */
export const installationLink = (section: InstallationSection, item = ''): string =>
  section === 'stations' ? '#/' : `#/${section}${itemPath(item)}`

/** The link to a station, or to the form of an item in one of its sections. */
export const stationLink = (station: string, section: StationSection = 'now', item = ''): string =>
  `#/station/${encodeURIComponent(station)}${section === 'now' ? '' : `/${section}`}${itemPath(item)}`

const itemPath = (item: string) => (item === '' ? '' : `/${encodeURIComponent(item)}`)

/** The link to a folder of the media, and to the details of a file. */
export function mediaLink(station: string, folder: string, file: number | null): string {
  const names = folder === '' ? [] : folder.split('/').map(encodeURIComponent)
  return [stationLink(station, 'media'), ...names].join('/') + (file === null ? '' : `?file=${file}`)
}
