import type { ReactiveControllerHost } from 'lit'

import { parseRoute, type Route } from './route.ts'

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
