/**
 * Every key and channel in Redis, except those of BullMQ. Stations are spread over shards; all keys of a shard and its
 * channel carry its hash tag, so that a script may touch them together on Redis Cluster.
 *
 * - `cuewire:{N}:station:ID`  hash: `position`, `schema`, `state` (see `station-store.ts`)
 * - `cuewire:{N}:positions`   hash: station id -> position, for all stations of the shard; '' where one was deleted
 * - `cuewire:{N}:changes`     sharded channel: one `Change` per commit
 */
export const shardCount = 16

export const shards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard)

export const shardOf = (stationId: number) => stationId % shardCount

export const stationKey = (stationId: number) => `cuewire:{${shardOf(stationId)}}:station:${stationId}`

export const positionsKey = (shard: number) => `cuewire:{${shard}}:positions`

export const changesChannel = (shard: number) => `cuewire:{${shard}}:changes`
