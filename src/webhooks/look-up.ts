import { lookup } from 'node:dns/promises'
import { type BlockList, isIP } from 'node:net'

import pLimit from 'p-limit'

import { withDeadline } from '../deadline.ts'
import { checkUrl, forbiddenAddress, hostOf, isForbiddenAddress, type UrlProblem } from './guard.ts'

const patienceMs = 1_000
/** Each look-up occupies a thread of Node's pool, of which there are four, for as long as the name server is silent. */
const atOnce = pLimit(2)

/**
 * Judges a URL that is about to be stored: as `checkUrl`, and by all addresses that its name has now. A name that has
 * none, or none within a second, passes: it is judged again at each request.
 */
export async function checkTarget(url: string, allowed: BlockList): Promise<UrlProblem | null> {
  const problem = checkUrl(url, allowed)
  if (problem || isIP(hostOf(url)) !== 0) return problem
  const addresses = await addressesOf(hostOf(url))
  return addresses.some(address => isForbiddenAddress(address, allowed)) ? forbiddenAddress : null
}

/** Never rejects: an unknown name has no addresses. */
async function addressesOf(name: string): Promise<string[]> {
  const tooLateAtMs = Date.now() + patienceMs
  const ask = () => (Date.now() < tooLateAtMs ? lookup(name, { all: true }) : Promise.resolve([]))
  try {
    const answers = await withDeadline(patienceMs, 'looking a name up', () => atOnce(ask))
    return answers.map(({ address }) => address)
  } catch {
    return []
  }
}
