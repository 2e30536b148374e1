import { hash, parseOptions, verify } from '@node-rs/argon2'

import { TooManyRequests } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'

/** The minimum for argon2id in OWASP's Password Storage Cheat Sheet. `memoryCost` is in KiB. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A stored hash with a higher cost is not from this program and could use all memory. */
const maxCost = { memoryCost: 65_536, timeCost: 8, parallelism: 4 }

// Hashing uses at most half of the thread pool, which file access and DNS lookups need as well.
const concurrency = 2
const maxWaiting = 64
const hashing = openFairSemaphore({ total: concurrency })

/** Returns the argon2id PHC string of a password. Rejects with `TooManyRequests` if too many calls wait. */
export async function hashPassword(text: string): Promise<string> {
  return runLimited(async () => hash(text, cost))
}

/**
 * Whether `text` is the password of this hash. Rejects with `TooManyRequests` if too many calls are waiting,
 * and with an `Error` if `phc` is not a hash of this program.
 */
export async function verifyPassword(phc: string, text: string): Promise<boolean> {
  if (!isAffordable(phc)) throw new Error('a stored password hash has a higher cost than this program uses')
  return runLimited(async () => verify(phc, text))
}

/** Whether a text from elsewhere is a hash that `verifyPassword` verifies: argon2id, at a cost that it accepts. */
export function isVerifiablePasswordHash(phc: string): boolean {
  if (
    !/^\$argon2id\$v=19\$m=\d{1,9},t=\d{1,9},p=\d{1,9}\$[A-Za-z0-9+/]{8,100}\$[A-Za-z0-9+/]{8,200}$/.test(phc)
  )
    return false
  try {
    return isAffordable(phc)
  } catch {
    return false
  }
}

/** Throws if `phc` is no hash. */
function isAffordable(phc: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(phc)
  return (
    memoryCost <= maxCost.memoryCost && timeCost <= maxCost.timeCost && parallelism <= maxCost.parallelism
  )
}

/**
 * Returns false after the time that `verifyPassword` takes, so that the response time does not reveal whether
 * a user exists. Rejects with `TooManyRequests` if too many calls are waiting.
 */
export async function verifyDummyPassword(text: string): Promise<false> {
  await hashPassword(text)
  return false
}

async function runLimited<T>(run: () => Promise<T>): Promise<T> {
  if (hashing.waitingOf() >= maxWaiting) throw new TooManyRequests(1)
  return hashing.run(run)
}
