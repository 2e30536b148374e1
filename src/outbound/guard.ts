import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'

import pLimit from 'p-limit'

import { isWithin, networkList, parsedUrl } from './networks.ts'

/**
 * IPv4 networks that are not the public internet: the IANA special-purpose registry (RFC 6890), multicast,
 * reserved, 6to4 relays, and the address under which Azure tells secrets to its machines.
 */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4'
]

/** Parts of 2000::/3 that are not the public internet: protocols (Teredo among them), documentation, 6to4. */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** IPv6 in which an IPv4 address is meant: NAT64 (RFC 6052), and addresses of IPv4 sockets. */
const embedding6 = ['64:ff9b::', '::ffff:']

const embedded6 = embedding6.flatMap(prefix =>
  special4.map(network => {
    const [address = '', bits] = network.split('/')
    return `${prefix}${address}/${96 + Number(bits)}`
  })
)

/** Outside these all IPv6 is local, multicast or reserved. */
const reachable6 = networkList(['2000::/3', ...embedding6.map(prefix => `${prefix}0.0.0.0/96`)])
const special = networkList([...special4, ...special6, ...embedded6])

/**
 * Whether a request to an operator's URL must not go to this address, since it is no host of the public
 * internet. `allowed` lists exceptions. What is no address at all is forbidden.
 */
export function isForbiddenAddress(text: string, allowed: BlockList): boolean {
  // A zone ("%eth0") says by which interface, not where to.
  const address = text.replace(/%.*$/s, '')
  if (isWithin(allowed, address)) return false
  if (isIP(address) === 6 && !isWithin(reachable6, address)) return true
  return isIP(address) === 0 || isWithin(special, address)
}

/** Why a URL is refused: a code word of the error body, and a sentence that follows the field's name. */
export interface UrlProblem {
  readonly code: 'invalid_url' | 'unsafe_url'
  readonly sentence: string
}

const unsafe = (sentence: string): UrlProblem => ({ code: 'unsafe_url', sentence })

/** What is said of addresses that are forbidden, however they were found: not which address it was. */
export const forbiddenAddress = unsafe('must not lead to a private or special address.')

/**
 * Judges all of a URL that can be judged without asking a name server: http or https, no user info, port 80,
 * 443 or 1024 and above, and an address if there is one in place of a name, however it is written (decimal,
 * octal, hex).
 */
export function checkUrl(text: string, allowed: BlockList): UrlProblem | null {
  const url = parsedUrl(text)
  if (!url) return { code: 'invalid_url', sentence: 'must be an address (URL).' }
  const { protocol, username, password, port } = url
  if (protocol !== 'http:' && protocol !== 'https:') return unsafe('must begin with http:// or https://.')
  if (username !== '' || password !== '') return unsafe('must hold no user and password.')
  if (port !== '' && port !== '80' && port !== '443' && Number(port) < 1024)
    return unsafe('must have port 80, 443 or one from 1024 on.')
  const host = hostOf(text)
  return isIP(host) !== 0 && isForbiddenAddress(host, allowed) ? forbiddenAddress : null
}

/** The host of a URL: a name, or an address in its usual form and without brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
}

const timeoutMs = 1_000
/**
 * Each look-up occupies a thread of Node's pool for as long as the name server is silent; there are four
 * unless told, and two are left to others.
 */
export const lookUpLimit = Math.max(1, Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) - 2)
const atOnce = pLimit(lookUpLimit)

/**
 * Judges a URL that is about to be stored: as `checkUrl`, and by all addresses that its name has now. A name
 * that has none, or none within a second, passes: it is judged again at each request.
 */
export async function checkTarget(url: string, allowed: BlockList): Promise<UrlProblem | null> {
  const problem = checkUrl(url, allowed)
  if (problem || isIP(hostOf(url)) !== 0) return problem
  const addresses = await addressesOf(hostOf(url), AbortSignal.timeout(timeoutMs)).catch(() => [])
  return addresses.some(({ address }) => isForbiddenAddress(address, allowed)) ? forbiddenAddress : null
}

/**
 * All addresses that a name has now. Rejects for a name that is not known, and as soon as the signal is
 * aborted: the system's look-up, which cannot be ended, then goes on unheard.
 */
export async function addressesOf(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const asked = atOnce(() => {
    // Nobody waits any more for a look-up whose turn came too late.
    signal.throwIfAborted()
    return lookup(name, { all: true })
  })
  return Promise.race([asked, aborted])
}
