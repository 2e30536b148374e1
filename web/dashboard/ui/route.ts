export const sections = ['now', 'schedule', 'hooks', 'streamers'] as const
export type Section = (typeof sections)[number]

/** What is looked at; it stands behind the `#` of the address, so that the browser's buttons work. */
export type Route =
  | { readonly view: 'stations' }
  | { readonly view: 'none' }
  | { readonly view: 'station'; readonly station: string; readonly section: Section }

export function parseRoute(hash: string): Route {
  const path = hash.replace(/^#/, '')
  if (path === '' || path === '/') return { view: 'stations' }
  const [, view, name = '', section = '', ...rest] = path.split('/')
  const known = sections.find(each => each === (section || 'now'))
  if (view !== 'station' || name === '' || known === undefined || rest.length > 0) return { view: 'none' }
  try {
    return { view, station: decodeURIComponent(name), section: known }
  } catch {
    return { view: 'none' }
  }
}

export const stationAddress = (station: string, section: Section = 'now'): string =>
  `#/station/${encodeURIComponent(station)}${section === 'now' ? '' : `/${section}`}`
