import { createHash } from 'node:crypto'

import { addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import type { RedisClient } from '../../stores/redis/connection.ts'
import { tokenBucketKey } from '../../stores/redis/keys.ts'
import { openTokenBuckets } from './token-buckets.ts'

const redisTimeoutMs = 500

/** Where the buckets of all server processes are. */
export interface SharedBucketDeps {
  readonly redis: RedisClient
}

/**
 * Rate limits by name that all server processes share, in Redis: buckets of `burst` tokens, refilled with
 * `perSecond`. `limit` names the limit. While Redis is unavailable, each process counts for itself.
 */
export function openSharedTokenBuckets(limit: string, perSecond: number, burst: number) {
  const own = openTokenBuckets(perSecond, burst)
  const intervalMs = Math.round(1_000 / perSecond)

  async function ask({ redis }: SharedBucketDeps, name: string, takes: boolean): Promise<number> {
    const ownWait = takes ? own.take(name) : own.peek(name)
    // A name may be long or personal.
    const key = tokenBucketKey(limit, createHash('sha256').update(name).digest('base64url'))
    const asked = withDeadline(redisTimeoutMs, 'counting in Redis', () =>
      redis.takeToken(key, intervalMs, burst, takes ? 1 : 0)
    )
    const waitMs = await asked.catch(() => 0)
    return Math.max(ownWait, Math.ceil(waitMs / 1_000))
  }

  return {
    /** Returns what `take` would return, without taking. */
    peek: (deps: SharedBucketDeps, name: string) => ask(deps, name, false),
    /** Takes a token. Returns 0, or the whole seconds until there is one (at least 1). */
    take: (deps: SharedBucketDeps, name: string) => ask(deps, name, true)
  }
}

/** Shared rate limits by address; all addresses of an IPv6 host share a bucket. */
export function openSharedAddressTokenBuckets(limit: string, perSecond: number, burst: number) {
  const { take } = openSharedTokenBuckets(limit, perSecond, burst)
  return { take: (deps: SharedBucketDeps, address: string) => take(deps, addressLimitKeyOf(address)) }
}
