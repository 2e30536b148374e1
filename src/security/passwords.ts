import { hash, parseOptions, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'

import { TooManyRequests } from '../runtime/errors.ts'

/** The least that OWASP's Password Storage Cheat Sheet asks of argon2id; `memoryCost` is in KiB. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** A stored hash that asks for more was not made here, and could ask for all the memory there is. */
const mostCost = { memoryCost: 65_536, timeCost: 8, parallelism: 4 }

// Hashing runs on the thread pool that files and name look-ups need as well: it never takes more than half of
// it.
const atOnce = 2
const maxWaiting = 64
const turns = pLimit(atOnce)

/**
 * The argon2id PHC string (`$argon2id$v=19$m=19456,t=2,p=1$salt$hash`) of a password, each time with a new
 * salt. Rejects with `TooManyRequests` where too many wait for their turn.
 */
export async function hashPassword(text: string): Promise<string> {
  return inTurn(async () => hash(text, cost))
}

/**
 * Whether `text` is the password of this hash. Rejects likewise, and when `phc` is no hash of this program.
 */
export async function verifyPassword(phc: string, text: string): Promise<boolean> {
  const asked = parseOptions(phc)
  if (
    asked.memoryCost > mostCost.memoryCost ||
    asked.timeCost > mostCost.timeCost ||
    asked.parallelism > mostCost.parallelism
  ) {
    throw new Error('a stored password hash asks for more work than this program ever does')
  }
  return inTurn(async () => verify(phc, text))
}

/**
 * False, after as long as `verifyPassword` takes. For users who do not exist or have no password, so that the
 * time of an answer does not tell them from others. Rejects likewise.
 */
export async function verifyNoPassword(text: string): Promise<false> {
  await hashPassword(text)
  return false
}

async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (turns.activeCount + turns.pendingCount >= atOnce + maxWaiting) {
    throw new TooManyRequests(1)
  }
  return turns(run)
}
