import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { openFairQueue } from '../../../src/api/auth/fair-queue.ts'
import { addressLimitGroupsOf } from '../../../src/platform/outbound/networks.ts'
import { isDeep, sized } from '../../support/tier.ts'

const account = 'anna@example.com'
const stepMs = 100
const turnMs = 2_000
const waitMs = 20_000

interface Attempt {
  readonly account: string
  readonly groups: readonly string[]
  readonly sinceMs: number
}

/** Numbers from 0 to 1, the same for the same seed. */
function openRandom(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Attack {
  readonly seed: number
  /** Seconds of it before the owner begins. */
  readonly lead: number
  /** The addresses that begin to try in a step. */
  readonly next: (step: number) => readonly string[]
}

const ownAddress = '198.51.100.7'

/** Seconds until the owner, who retries after the pause that the response names, has a turn; null within an hour. */
function simulate({ seed, lead, next }: Attack, own = ownAddress): number | null {
  let nowMs = 0
  const queue = openFairQueue<Attempt>(() => nowMs, openRandom(seed))
  let inQueue: Attempt[] = []
  let isOwnerWaiting = false
  let ownReturnsMs = lead * 1_000
  const turnAway = (attempt: Attempt, afterMs: number) => {
    if (attempt.groups.at(-1) !== own) return
    isOwnerWaiting = false
    ownReturnsMs = nowMs + afterMs
  }
  const join = (address: string) => {
    const attempt = { account, groups: addressLimitGroupsOf(address), sinceMs: nowMs }
    inQueue.push(attempt)
    const evicted = queue.join(attempt)
    if (evicted) turnAway(evicted, waitMs)
  }
  for (let step = 0; nowMs < lead * 1_000 + 3_600_000; step++) {
    nowMs = step * stepMs
    for (const address of next(step)) join(address)
    if (!isOwnerWaiting && nowMs >= ownReturnsMs) {
      isOwnerWaiting = true
      join(own)
    }
    for (const attempt of inQueue.filter(({ sinceMs }) => nowMs - sinceMs >= waitMs))
      if (queue.leave(attempt)) turnAway(attempt, 1_000)
    inQueue = inQueue.filter(({ sinceMs }) => nowMs - sinceMs < waitMs)
    if (nowMs % turnMs === 0 && queue.dequeue(account)?.groups.at(-1) === own) return nowMs / 1_000 - lead
  }
  return null
}

/** An address that was not used before, of a network that was not either. */
const freshIpv4 = (index: number) =>
  `${11 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}.${(index * 7) % 256}`
const freshIpv6 = (index: number) => `2001:${(index >> 16).toString(16)}:${(index & 65_535).toString(16)}::1`

/** So many attempts in a second, each from a new network. */
function everNew(perSecond: number, address: (index: number) => string) {
  let sent = 0
  return (step: number) => {
    const due = Math.floor(((step + 1) * stepMs * perSecond) / 1_000) - sent
    const from = sent
    sent += due
    return Array.from({ length: due }, (_, index) => address(from + index))
  }
}

describe('an owner who retries gets a turn', () => {
  test('within 25 seconds, however many new networks try each second', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
        fc.nat(),
        fc.constantFrom(freshIpv4, freshIpv6),
        (perSecond, lead, seed, address) => {
          const seconds = simulate({ seed, lead, next: everNew(perSecond, address) })
          expect(seconds).not.toBeNull()
          expect(seconds).toBeLessThanOrEqual(25)
        }
      ),
      { numRuns: sized({ quick: 4, deep: 200 }) }
    )
  })

  test('after at most one turn of each network that came before and keeps trying', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(), (networks, seed) => {
        // Each of them tries anew every half second, so that it always waits.
        const next = (step: number) =>
          step % 5 === 0 ? Array.from({ length: networks }, (_, index) => freshIpv4(index * 256)) : []
        const seconds = simulate({ seed, lead: 30, next })
        // Its own retries are up to 20 seconds apart.
        expect(seconds).toBeLessThanOrEqual(networks * 2 + 25)
      }),
      { numRuns: sized({ quick: 1, deep: 50 }) }
    )
  })

  test.for([
    ['a /24', '203.0.113.', ''],
    ['a /48', '2001:db8:7:', '::1']
  ])('after one turn of %s, however many of its addresses try', ([, before = '', after = '']) => {
    const next = (step: number) => [`${before}${step % 250}${after}`]
    expect(simulate({ seed: 1, lead: 60, next })).toBeLessThanOrEqual(4)
  })

  test('among others of its own network', () => {
    const next = (step: number) => (step % 2 === 0 ? [`198.51.100.${8 + (step % 200)}`] : [])
    expect(simulate({ seed: 1, lead: 60, next })).not.toBeNull()
  })

  test.runIf(isDeep)('while most places have to be forgotten', { timeout: 300_000 }, () => {
    const seconds = Array.from({ length: 3 }, (_, seed) =>
      simulate({ seed, lead: 60, next: everNew(600, freshIpv4) })
    )
    for (const each of seconds) expect(each).toBeLessThanOrEqual(200)
  })
})

describe('the line', () => {
  const attemptOf = (address: string) => ({ account, groups: addressLimitGroupsOf(address), sinceMs: 0 })

  test('has those in front who came first, also after a pause', () => {
    let nowMs = 0
    const queue = openFairQueue<Attempt>(() => nowMs)
    const first = attemptOf('192.0.2.1')
    queue.join(first)
    queue.leave(first)
    nowMs = 60_000
    queue.join(attemptOf('198.51.100.1'))
    nowMs = 120_000
    queue.join(attemptOf('192.0.2.1'))
    expect(queue.dequeue(account)?.groups.at(-1)).toBe('192.0.2.1')
    // It has had its turn.
    queue.join(attemptOf('192.0.2.1'))
    expect(queue.dequeue(account)?.groups.at(-1)).toBe('198.51.100.1')
  })

  test('forgets a place five minutes after the last attempt', () => {
    let nowMs = 0
    const queue = openFairQueue<Attempt>(() => nowMs)
    const first = attemptOf('192.0.2.1')
    queue.join(first)
    queue.leave(first)
    nowMs = 299_000
    queue.join(attemptOf('198.51.100.1'))
    nowMs = 301_000
    queue.join(attemptOf('192.0.2.1'))
    expect(queue.dequeue(account)?.groups.at(-1)).toBe('198.51.100.1')
  })

  test('is one of each account, and is empty in the end', () => {
    const queue = openFairQueue<Attempt>()
    queue.join(attemptOf('192.0.2.1'))
    expect(queue.dequeue('other@example.com')).toBeNull()
    expect(queue.isWaiting(account)).toBe(true)
    queue.dequeue(account)
    expect([queue.isWaiting(account), queue.dequeue(account)]).toEqual([false, null])
  })
})
