import { isIP } from 'node:net'

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { isInNetworks, toNetworkList } from '../platform/outbound/networks.ts'

export type ResolveAddress = ReturnType<typeof openAddressResolver>

/**
 * The client's address is that of the connection or, if that is a trusted proxy, the last one in
 * `X-Forwarded-For` that is not. `trusted` lists addresses and networks (`10.0.0.0/8`).
 */
export function openAddressResolver(trusted: readonly string[]) {
  const proxies = toNetworkList(trusted)
  const isTrusted = (address: string) => isInNetworks(proxies, address)

  return (connection: string, forwarded: string): string => {
    const direct = unmapIPv4(connection)
    if (forwarded === '' || !isTrusted(direct)) return direct
    const hops = forwarded.split(',').map(hop => unmapIPv4(removePort(hop.trim())))
    // Hops before the last untrusted one could be forged.
    const client = hops.findLast(hop => !isTrusted(hop))
    return client !== undefined && isIP(client) !== 0 ? client : direct
  }
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function removePort(hop: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(hop) ?? []
  return ipv4 ?? ipv6 ?? hop
}

/** Converts an IPv4-mapped IPv6 address to IPv4. uWebSockets.js writes all digits of an address. */
function unmapIPv4(address: string): string {
  const [, high = '', low = ''] = /^(?:0000:){5}ffff:([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(address) ?? []
  if (high !== '') return Buffer.from(high + low, 'hex').join('.')
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Reads the address of the client that sends a request. */
export function readAddress(res: HttpResponse, req: HttpRequest, resolve: ResolveAddress): string {
  return resolve(Buffer.from(res.getRemoteAddressAsText()).toString(), readForwardedFor(req))
}

/** Returns all values of `X-Forwarded-For` from all its lines; `getHeader` returns only the first line. */
function readForwardedFor(req: HttpRequest): string {
  const names: string[] = []
  req.forEach((name, value) => {
    if (name !== 'x-forwarded-for') return
    for (const part of value.split(',')) if (part.trim() !== '') names.push(part.trim())
  })
  return names.join(', ')
}

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']

/** Whether a proxy has sent the request, by the headers that proxies add; each adds only some of them. */
export function isForwardedRequest(req: Pick<HttpRequest, 'getHeader'>): boolean {
  return proxyHeaders.some(name => req.getHeader(name) !== '')
}
