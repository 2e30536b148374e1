/**
 * One URL of Redis or of its Sentinels, or URLs of some nodes of a Redis Cluster, whose other nodes the client
 * discovers. `redis-url.ts` parses them.
 */
export interface RedisPlace {
  readonly urls: readonly [string, ...string[]]
  readonly isCluster: boolean
}

/** Splits REDIS_URL, which may list several nodes. A comma without a scheme after it belongs to its URL. */
export function splitRedisUrls(text: string): [string, ...string[]] {
  const [first = '', ...others] = text.trim().split(/\s*,\s*(?=rediss?(?:\+sentinel)?:)/i)
  return [first, ...others]
}
