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

/** The view that the fragment of the URL names. */
export type DashboardRoute =
  | { readonly view: 'installation'; readonly section: InstallationSection }
  | { readonly view: 'not-found' }
  | { readonly view: 'join'; readonly token: string }
  | { readonly view: 'station'; readonly station: string; readonly section: StationSection }

/** Parses `#/{section}`, `#/join/{token}` and `#/station/{short name}/{section}`; the first section of both is the default. */
export function parseRoute(hash: string): DashboardRoute {
  const path = hash.replace(/^#/, '')
  if (path === '') return { view: 'installation', section: 'stations' }
  const [, view = '', name = '', sectionName = '', ...rest] = path.split('/')
  if (rest.length > 0) return { view: 'not-found' }
  if (view === 'join' && name !== '' && sectionName === '') return { view, token: name }
  if (view === 'station') return parseStationRoute(name, sectionName)
  const section = installationSections.find(each => each === (view || 'stations'))
  if (section === undefined || name !== '' || sectionName !== '') return { view: 'not-found' }
  return { view: 'installation', section }
}

function parseStationRoute(name: string, sectionName: string): DashboardRoute {
  const section = stationSections.find(each => each === (sectionName || 'now'))
  if (name === '' || section === undefined) return { view: 'not-found' }
  try {
    return { view: 'station', station: decodeURIComponent(name), section }
  } catch {
    return { view: 'not-found' }
  }
}

/** The link to a section of the installation. */
export const installationLink = (section: InstallationSection): string =>
  section === 'stations' ? '#/' : `#/${section}`

/** The link to a station. */
export const stationLink = (station: string, section: StationSection = 'now'): string =>
  `#/station/${encodeURIComponent(station)}${section === 'now' ? '' : `/${section}`}`
