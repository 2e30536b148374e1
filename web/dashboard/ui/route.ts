const sections = ['now', 'schedule', 'hooks', 'streamers'] as const
export type StationSection = (typeof sections)[number]

/** The view that the fragment of the URL names. */
export type DashboardRoute =
  | { readonly view: 'stations' }
  | { readonly view: 'not-found' }
  | { readonly view: 'station'; readonly station: string; readonly section: StationSection }

export function parseRoute(hash: string): DashboardRoute {
  const path = hash.replace(/^#/, '')
  if (path === '' || path === '/') return { view: 'stations' }
  const [, view, name = '', sectionName = '', ...rest] = path.split('/')
  const section = sections.find(each => each === (sectionName || 'now'))
  if (view !== 'station' || name === '' || section === undefined || rest.length > 0)
    return { view: 'not-found' }
  try {
    return { view, station: decodeURIComponent(name), section }
  } catch {
    return { view: 'not-found' }
  }
}

/** The link to a station. */
export const stationLink = (station: string, section: StationSection = 'now'): string =>
  `#/station/${encodeURIComponent(station)}${section === 'now' ? '' : `/${section}`}`
