/**
 * Where Redis is: the URL of one server, or those of some nodes of one Redis Cluster, which tell of the
 * others.
 */
export interface RedisPlace {
  readonly urls: readonly [string, ...string[]]
  readonly isCluster: boolean
}

/** Splits REDIS_URL, which may name several nodes. A comma that no scheme follows belongs to its URL. */
export function urlsOf(text: string): [string, ...string[]] {
  const [first = '', ...others] = text.trim().split(/\s*,\s*(?=rediss?:)/)
  return [first, ...others]
}
