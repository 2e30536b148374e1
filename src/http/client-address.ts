import { isIP } from 'node:net'

import type { HttpRequest } from 'uWebSockets.js'

import { isWithin, networkList } from '../outbound/networks.ts'

/**
 * Tells a client's address: that of the connection, or, where that belongs to a trusted proxy, the last one
 * in `X-Forwarded-For` that does not. `trusted` holds addresses and networks (`10.0.0.0/8`).
 */
export function openAddresses(trusted: readonly string[]): (connection: string, forwarded: string) => string {
  const proxies = networkList(trusted)
  const isTrusted = (address: string) => isWithin(proxies, address)

  return (connection, forwarded) => {
    const direct = plain(connection)
    if (forwarded === '' || !isTrusted(direct)) return direct
    const hops = forwarded.split(',').map(hop => plain(withoutPort(hop.trim())))
    // What stands before the first stranger was written by the stranger.
    const stranger = hops.findLast(hop => !isTrusted(hop))
    return stranger !== undefined && isIP(stranger) !== 0 ? stranger : direct
  }
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(hop) ?? []
  return ipv4 ?? ipv6 ?? hop
}

/** An IPv4 address that came over an IPv6 socket, as the IPv4 address it is. */
function plain(address: string): string {
  const [, high, low] = /^(?:0000:){5}ffff:([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(address) ?? []
  if (high !== undefined && low !== undefined) {
    const bytes = Buffer.from(high + low, 'hex')
    return bytes.join('.')
  }
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/**
 * All of `X-Forwarded-For`: a proxy may add a line of its own instead of lengthening the one that is there,
 * and only the first one is what `getHeader` gives. What names nobody is left out: a client must not hide
 * behind an empty line.
 */
export function forwardedFor(req: HttpRequest): string {
  const names: string[] = []
  req.forEach((name, value) => {
    if (name !== 'x-forwarded-for') return
    for (const part of value.split(',')) if (part.trim() !== '') names.push(part.trim())
  })
  return names.join(', ')
}
