import { ownerOf } from '../../outbound/networks.ts'

/** Buckets that fill with `perSecond` tokens up to `burst`, one per name; they are full at first. */
export interface TokenBuckets {
  /** Takes a token; gives 0, or the whole seconds until there is one again (at least 1). */
  readonly take: (name: string) => number
  /** What `take` would give, without taking. */
  readonly peek: (name: string) => number
}

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

/** At most this many names are remembered; the one not used for longest is forgotten first. */
const namesAtMost = 10_000

export function openTokenBuckets(
  perSecond: number,
  burst: number,
  now: () => number = () => performance.now()
): TokenBuckets {
  const buckets = new Map<string, Bucket>()

  function filled(name: string): Bucket {
    const atMs = now()
    const known = buckets.get(name)
    if (!known) return { tokens: burst, atMs }
    return { tokens: Math.min(burst, known.tokens + ((atMs - known.atMs) * perSecond) / 1000), atMs }
  }

  const waitOf = ({ tokens }: Bucket) => (tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond)))

  return {
    peek: name => waitOf(filled(name)),
    take: name => {
      const bucket = filled(name)
      const wait = waitOf(bucket)
      buckets.delete(name)
      if (buckets.size >= namesAtMost) {
        const oldest = buckets.keys().next()
        if (!oldest.done) buckets.delete(oldest.value)
      }
      buckets.set(name, wait === 0 ? { ...bucket, tokens: bucket.tokens - 1 } : bucket)
      return wait
    }
  }
}

/** The same, one per address: all addresses of an IPv6 host share one. */
export function openAddressBuckets(perSecond: number, burst: number): TokenBuckets {
  const { take, peek } = openTokenBuckets(perSecond, burst)
  return { take: address => take(ownerOf(address)), peek: address => peek(ownerOf(address)) }
}
