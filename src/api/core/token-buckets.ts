import { addressLimitKeyOf } from '../../platform/outbound/networks.ts'

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

/** The least recently used bucket is dropped first. */
const maxBuckets = 10_000

/** Rate limits by name: buckets of `burst` tokens, refilled with `perSecond`; `now` returns milliseconds. */
export function openTokenBuckets(perSecond: number, burst: number, now = () => performance.now()) {
  const buckets = new Map<string, Bucket>()

  function refill(name: string): Bucket {
    const atMs = now()
    const last = buckets.get(name) ?? { tokens: burst, atMs }
    return { tokens: Math.min(burst, last.tokens + ((atMs - last.atMs) * perSecond) / 1000), atMs }
  }

  const waitFor = ({ tokens }: Bucket) => (tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond)))

  return {
    /** Returns what `take` would return, without taking. */
    peek: (name: string) => waitFor(refill(name)),
    /** Takes a token. Returns 0, or the whole seconds until there is one (at least 1). */
    take: (name: string) => {
      const bucket = refill(name)
      const wait = waitFor(bucket)
      buckets.delete(name)
      const oldest = buckets.keys().next()
      if (buckets.size >= maxBuckets && !oldest.done) buckets.delete(oldest.value)
      buckets.set(name, wait === 0 ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      return wait
    }
  }
}

export type TokenBuckets = ReturnType<typeof openTokenBuckets>

/** Rate limits by address; all addresses of an IPv6 host share a bucket. */
export function openAddressTokenBuckets(perSecond: number, burst: number): TokenBuckets {
  const { take, peek } = openTokenBuckets(perSecond, burst)
  return {
    take: address => take(addressLimitKeyOf(address)),
    peek: address => peek(addressLimitKeyOf(address))
  }
}
