import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'

import pLimit from 'p-limit'

import { checkUrl, forbiddenAddress, hostOf, isForbiddenAddress, type UrlProblem } from './guard.ts'

const patienceMs = 1_000
/**
 * Each look-up occupies a thread of Node's pool for as long as the name server is silent; there are four unless told, and two
 * are left to others.
 */
export const lookUpsAtOnce = Math.max(1, Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) - 2)
const atOnce = pLimit(lookUpsAtOnce)

/**
 * Judges a URL that is about to be stored: as `checkUrl`, and by all addresses that its name has now. A name that has
 * none, or none within a second, passes: it is judged again at each request.
 */
export async function checkTarget(url: string, allowed: BlockList): Promise<UrlProblem | null> {
  const problem = checkUrl(url, allowed)
  if (problem || isIP(hostOf(url)) !== 0) return problem
  const addresses = await addressesOf(hostOf(url), AbortSignal.timeout(patienceMs)).catch(() => [])
  return addresses.some(({ address }) => isForbiddenAddress(address, allowed)) ? forbiddenAddress : null
}

/**
 * All addresses that a name has now. Rejects for a name that is not known, and as soon as the signal is aborted: the
 * system's look-up, which cannot be ended, then goes on unheard.
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
