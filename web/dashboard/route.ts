import type { ReactiveControllerHost } from 'lit'

export const sections = ['now', 'schedule', 'hooks', 'streamers'] as const
export type Section = (typeof sections)[number]

/** What is looked at; it stands behind the `#` of the address, so that the browser's buttons work. */
export type Route =
  | { readonly view: 'stations' }
  | { readonly view: 'station'; readonly station: string; readonly section: Section }

export function parseRoute(hash: string): Route {
  const [, view, name = '', section = 'now'] = hash.replace(/^#/, '').split('/')
  const known = sections.find(each => each === section)
  if (view !== 'station' || name === '' || known === undefined) return { view: 'stations' }
  try {
    return { view, station: decodeURIComponent(name), section: known }
  } catch {
    return { view: 'stations' }
  }
}

export const stationAddress = (station: string, section: Section = 'now'): string =>
  `#/station/${encodeURIComponent(station)}${section === 'now' ? '' : `/${section}`}`

/** Draws the element again whenever something else is to be looked at. */
export function routeFor(host: ReactiveControllerHost, onTurn: () => void): { readonly route: Route } {
  let route = parseRoute(location.hash)
  const turn = () => {
    route = parseRoute(location.hash)
    onTurn()
    host.requestUpdate()
  }
  host.addController({
    hostConnected: () => addEventListener('hashchange', turn),
    hostDisconnected: () => removeEventListener('hashchange', turn)
  })
  return {
    get route() {
      return route
    }
  }
}
