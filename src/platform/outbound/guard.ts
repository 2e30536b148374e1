import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'

import { openCache } from '../runtime/cache.ts'
import { errorCodeOf } from '../runtime/errors.ts'
import { openFairSemaphore } from '../runtime/fair-semaphore.ts'
import { stripIpv6Brackets, isInNetworks, toNetworkList, parseUrl } from './networks.ts'

/**
 * IPv4 networks that are not the public internet: the IANA special-purpose registry (RFC 6890), multicast,
 * reserved, 6to4 relays, and the metadata address of Azure.
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

/** Parts of 2000::/3 that are not the public internet: protocols (such as Teredo), documentation, 6to4. */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** Prefixes of IPv6 addresses that contain an IPv4 address: NAT64 (RFC 6052), and IPv4-mapped. */
const prefixes4 = ['64:ff9b::', '::ffff:']

const mapped4 = prefixes4.flatMap(prefix =>
  special4.map(network => {
    const [address = '', bits] = network.split('/')
    return `${prefix}${address}/${96 + Number(bits)}`
  })
)

/** All other IPv6 addresses are local, multicast or reserved. */
const reachable6 = toNetworkList(['2000::/3', ...prefixes4.map(prefix => `${prefix}0.0.0.0/96`)])
const special = toNetworkList([...special4, ...special6, ...mapped4])

/** Whether an address is neither on the public internet nor `allowed`. True for text that is no address. */
export function isForbiddenAddress(text: string, allowed: BlockList): boolean {
  // A zone ("%eth0") names an interface.
  const address = text.replace(/%.*$/s, '')
  if (isInNetworks(allowed, address)) return false
  if (isIP(address) === 6 && !isInNetworks(reachable6, address)) return true
  return isIP(address) === 0 || isInNetworks(special, address)
}

/** Why a URL is refused: a code of the error body, and a sentence that follows the name of the field. */
export interface UrlProblem {
  readonly code: 'invalid_url' | 'unsafe_url'
  readonly sentence: string
}

const unsafe = (sentence: string): UrlProblem => ({ code: 'unsafe_url', sentence })

/** Does not reveal the address that a name resolved to. */
export const forbiddenAddressProblem = unsafe(
  'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
)

/**
 * Checks a URL without a DNS lookup: http or https, no user or password, port 80, 443 or 1024 and above, and
 * the address if the host is one, in any notation (decimal, octal, hex).
 */
export function findUrlProblem(text: string, allowed: BlockList): UrlProblem | null {
  const url = parseUrl(text)
  if (!url) return { code: 'invalid_url', sentence: 'must be a URL.' }
  const { protocol, username, password, port } = url
  if (protocol !== 'http:' && protocol !== 'https:') return unsafe('must begin with http:// or https://.')
  if (username !== '' || password !== '') return unsafe('must not contain a user or password.')
  if (port !== '' && port !== '80' && port !== '443' && Number(port) < 1024)
    return unsafe('must use port 80, 443, or 1024 and above.')
  const host = canonicalHostOf(text)
  return isIP(host) !== 0 && isForbiddenAddress(host, allowed) ? forbiddenAddressProblem : null
}

/** The host of a URL: a name, or an address in its canonical form without brackets. */
export function canonicalHostOf(url: string): string {
  return stripIpv6Brackets(new URL(url).hostname)
}

const timeoutMs = 1_000
/**
 * Concurrency limit for DNS lookups. Each uses a thread of Node's pool, 4 by default, until the name server
 * answers; two threads are left for other work.
 */
export const dnsLookupLimit = Math.max(1, Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) - 2)
const lookups = openFairSemaphore({ total: dnsLookupLimit })

const unresolvedProblem = unsafe('must have a name that can be looked up.')

/**
 * Checks a URL before it is stored: like `findUrlProblem`, and all current addresses of its name. A name that does
 * not resolve within a second passes, because each request checks it again.
 */
export async function findTargetProblem(url: string, allowed: BlockList): Promise<UrlProblem | null> {
  const problem = findUrlProblem(url, allowed)
  if (problem || isIP(canonicalHostOf(url)) !== 0) return problem
  const addresses = await lookUp(canonicalHostOf(url)).catch(() => [])
  return findForbidden(addresses, allowed)
}

/**
 * Checks a URL that another program will request, without a guard of its own: a name that does not resolve is a
 * problem. If the name server does not answer within a second, the addresses that the name had in the last hour count.
 */
export async function findForeignTargetProblem(url: string, allowed: BlockList): Promise<UrlProblem | null> {
  const problem = findUrlProblem(url, allowed)
  if (problem || isIP(canonicalHostOf(url)) !== 0) return problem
  const addresses = await lookUpOrRecall(canonicalHostOf(url))
  return addresses.length === 0 ? unresolvedProblem : findForbidden(addresses, allowed)
}

const findForbidden = (addresses: readonly LookupAddress[], allowed: BlockList) =>
  addresses.some(({ address }) => isForbiddenAddress(address, allowed)) ? forbiddenAddressProblem : null

const lookUp = (name: string) => resolveHostAddresses(name, AbortSignal.timeout(timeoutMs))

/** The last addresses of names. */
const recalled = openCache<string, readonly LookupAddress[]>({ maxEntries: 1_000, ttlMs: 3_600_000 })

async function lookUpOrRecall(name: string): Promise<readonly LookupAddress[]> {
  try {
    const addresses = await lookUp(name)
    recalled.set(name, addresses)
    return addresses
  } catch (error) {
    // There is no such name: the name server has answered.
    return errorCodeOf(error) === 'ENOTFOUND' ? [] : (recalled.get(name) ?? [])
  }
}

/** Resolves all addresses of a name. Rejects for an unknown name, and as soon as the signal is aborted. */
export async function resolveHostAddresses(name: string, signal: AbortSignal): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const resolved = lookups.run(async () => {
    // It may have been aborted while it was queued.
    signal.throwIfAborted()
    return lookup(name, { all: true })
  })
  return Promise.race([resolved, aborted])
}
