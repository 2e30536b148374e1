import { isIP } from 'node:net'

import { renderForwardedQuery } from '../api/auth/credential-links.ts'
import { getVisibleStation, toStationLookup } from '../api/auth/public-request.ts'
import { findUrlProblem, canonicalHostOf } from '../platform/outbound/guard.ts'
import { parseUrl, toNetworkList } from '../platform/outbound/networks.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { pageRoute } from './page.ts'

/*
 * The addresses of mounts that now playing shows, as AzuraCast has them. A reverse proxy usually passes them to the
 * streaming server; without one they are redirected.
 */

interface MountAddresses {
  readonly customUrl: string
  readonly frontendUrl: string
}

const listenRoute = (rest: string) =>
  pageRoute(`/listen/:station_id${rest}`, async (request, services) => {
    const { publicReads: sql } = services
    const { stationId } = await getVisibleStation(toStationLookup(request), services)
    const { folder, mount = '' } = request.params
    const path = folder === undefined ? `/${mount}` : `/${folder}/${mount}`
    const [found] = await sql<MountAddresses[]>`
      select x.custom_listen_url as "customUrl", s.frontend_url as "frontendUrl"
      from hls_streams x join stations s on s.id = x.station_id
      where x.station_id = ${stationId} and x.name = ${path}`
    if (!found) throw new ApiError('not-found')
    const address = found.customUrl || findPublicAddress(found.frontendUrl, path)
    if (address === null)
      throw new ApiError(
        'not-found',
        'The streaming server of the station has no public address. Let the reverse proxy pass /listen/ to it, or set frontend_url or custom_listen_url.'
      )
    const query = renderForwardedQuery(request.query)
    return {
      status: 302,
      headers: { Location: query === '' ? address : addQuery(address, query), 'Cache-Control': 'no-store' }
    }
  })

const none = toNetworkList([])

/** The address of a mount at a streaming server; null if listeners elsewhere cannot reach it. */
function findPublicAddress(frontendUrl: string, path: string): string | null {
  const server = parseUrl(frontendUrl)
  if (server === null || findUrlProblem(server.origin, none) !== null) return null
  const host = canonicalHostOf(server.origin)
  // A name without a domain is one of the local network, or of a container.
  return isIP(host) === 0 && !host.includes('.') ? null : new URL(path, server.origin).href
}

const addQuery = (address: string, query: string) => `${address}${address.includes('?') ? '&' : '?'}${query}`

export const listenRoutes = [listenRoute('/:mount'), listenRoute('/:folder/:mount')]
