import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { TooManyRequests } from '../../platform/runtime/errors.ts'
import { type SharedBucketDeps, openSharedTokenBuckets } from '../core/shared-buckets.ts'
import { openFairQueue, type FairQueueEntry } from './fair-queue.ts'

/*
 * The bound on the passwords that can be tried for an account, from whatever addresses. It never refuses an account:
 * beyond the burst, attempts wait in a queue, in the order of `openFairQueue`.
 */

interface Attempt extends FairQueueEntry {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A client gets 429 after this time: a browser and its proxies wait longer. */
const browserWaitMs = 20_000

/**
 * Opens a bound of `burst` attempts, then `perSecond`, for each account. All server processes share it; each has a
 * queue of its own. `maxWaitMs`: how long an attempt waits at most.
 */
export function openPasswordThrottle(
  limit: string,
  perSecond: number,
  burst: number,
  maxWaitMs = browserWaitMs
) {
  const buckets = openSharedTokenBuckets(limit, perSecond, burst)
  const queue = openFairQueue<Attempt>()

  /** Admits the attempts that wait, as tokens become free, until none is left. */
  async function admitWaiting(deps: SharedBucketDeps, account: string): Promise<void> {
    while (queue.isWaiting(account)) {
      // Asked first, because a token that only one of the two counters has would be lost.
      const isFree = (await buckets.peek(deps, account)) === 0 && (await buckets.take(deps, account)) === 0
      if (isFree) queue.dequeue(account)?.resolve()
      else await sleep(200 + randomInt(100))
    }
  }

  function waitInQueue(deps: SharedBucketDeps, account: string, groups: readonly string[]): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const attempt = { account, groups, resolve, reject }
      const isFirst = !queue.isWaiting(account)
      // It returns after those who wait now have left.
      queue.join(attempt)?.reject(new TooManyRequests(Math.ceil(maxWaitMs / 1_000)))
      const timer = setTimeout(() => {
        if (queue.leave(attempt)) reject(new TooManyRequests(1))
      }, maxWaitMs)
      timer.unref()
      if (isFirst) void admitWaiting(deps, account)
    })
  }

  return {
    /** Whether an attempt for an account would have to wait. */
    isCrowded: async (deps: SharedBucketDeps, account: string) =>
      queue.isWaiting(account) || (await buckets.peek(deps, account)) > 0,
    /**
     * Takes a token of an account; waits for it if the burst is used up, and behind those who wait already. `groups`:
     * see `FairQueueEntry`. Throws 429 if there is none in time, which may happen while very many others try.
     */
    take: async (deps: SharedBucketDeps, account: string, groups: readonly string[]): Promise<void> => {
      if (queue.isWaiting(account) || (await buckets.take(deps, account)) > 0)
        await waitInQueue(deps, account, groups)
    }
  }
}
