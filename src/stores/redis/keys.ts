/**
 * Every key and channel in Redis. Stations are spread over shards; all keys of a shard and its channel carry its hash
 * tag, so that a script may touch them together on Redis Cluster.
 *
 * - `cuewire:{TAG}:station:ID` hash: `position`, `state`, `counts` (see `station-store.ts`)
 * - `cuewire:{TAG}:counting:ID` hash: the listener counts of a station (see `lua/counting.lua`)
 * - `cuewire:{TAG}:identities:ID` sorted set: the identified listeners of a station, as hashes
 * - `cuewire:{TAG}:open-sessions:ID` hash: the sessions of listeners who are connected to a station (see
 *   `session-store.ts`); expires
 * - `cuewire:{TAG}:ended-sessions` stream: sessions that are not in Postgres; at most about 200,000
 * - `cuewire:{TAG}:positions` hash: station id -> position, for all stations of the shard; '' if deleted
 * - `cuewire:{TAG}:sequence` number of the newest change in the shard; grows strictly
 * - `cuewire:{TAG}:changed` sorted set: station id, scored with the sequence number of its newest change
 * - `cuewire:{TAG}:unflushed` sorted set: station id, scored with its newest offset that is not in Postgres
 * - `cuewire:{TAG}:flushing` the lease of the workers process that flushes the shard; expires
 * - `cuewire:{TAG}:changes` sharded channel: one `StationMessage` per commit, change of counts or removal
 * - `cuewire:{TAG}:probe` never exists; also a sharded channel without subscribers: see `lua/probeWrites-1.lua`
 * - `cuewire:{followers}:PROCESS` hash: station id -> followers of a server process by transport; `at`: when; expires
 * - `cuewire:{followers}` sorted set: the server processes, scored with the time of their last count; expires
 * - `cuewire:hls-wanted:NAME` set while somebody asks who listens to the HLS streams of a station; expires
 * - `cuewire:hls-listeners:NAME` who does, with addresses, while somebody asks; expires after seconds
 * - `cuewire:passkey-challenge:CHALLENGE` what a challenge of a passkey is for; expires after minutes
 * - `cuewire:tokens:LIMIT:HASH` a rate limit that servers share, by the hash of what is limited; expires when unused
 * - `cuewire:webhook-test:ID` the log of the last test of a web hook; expires after an hour
 * - `{cuewire}plays` sorted set: the plays on air, scored with when they end (see `src/stores/jobs/scheduled-plays.ts`)
 * - `bull:{cuewire}deliver:...` the jobs of BullMQ that deliver to web hooks (see `src/stores/jobs/queues.ts`)
 *
 * Nothing here grows with time. There is one hash, one position and one score for each station, and a state holds at
 * most 50 plays; what is left of a deleted station goes after seven days (`removeOldTombstones`). `src/stores/jobs`
 * keeps an entry for each play on air and for each pending delivery, none for those that ended, and about 10,000
 * entries in the event stream of each queue.
 */
const shardCount = 64

export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard)

export const shardOf = (stationId: number) => stationId % shardCount

/**
 * The hash tag of each shard. They are chosen so that on 3 to 16 masters with equal slot ranges no master
 * gets more than 1.25 times the mean of commands, with and without the job queues: these have one slot, that
 * of `{cuewire}`, and count as four shards. Each quarter of the shards is spread over all masters.
 */
export const shardTags: readonly string[] = [
  'bd bu ax fh gc nx dg fx ce ar dq ff cy aw dp fc',
  'bh aa ea fl bi ob fi bb bw az dd fs bv nv dt fg',
  'bl at dw fd ad dr fp bf ac dy dl bg br as da fk',
  'bq ap dj fy ay ed ft ld ak dh fb bc ab dx de fo'
].flatMap(tags => tags.split(' '))

const tagOf = (shard: number) => `{${shardTags[shard] ?? ''}}`

/** The slot of a shard in Redis Cluster. */
export const shardSlot = (shard: number) => hashSlot(shardTags[shard] ?? '')

/** The slot of a hash tag in Redis Cluster: its CRC-16 (XMODEM) modulo 16,384. */
export function hashSlot(tag: string): number {
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc % slotCount
}

export const slotCount = 16_384

export const stationKey = (stationId: number) => `cuewire:${tagOf(shardOf(stationId))}:station:${stationId}`

export const positionsKey = (shard: number) => `cuewire:${tagOf(shard)}:positions`

export const sequenceKey = (shard: number) => `cuewire:${tagOf(shard)}:sequence`

export const changedKey = (shard: number) => `cuewire:${tagOf(shard)}:changed`

export const countingKey = (stationId: number) => `cuewire:${tagOf(shardOf(stationId))}:counting:${stationId}`

export const identitiesKey = (stationId: number) =>
  `cuewire:${tagOf(shardOf(stationId))}:identities:${stationId}`

export const openSessionsKey = (stationId: number) =>
  `cuewire:${tagOf(shardOf(stationId))}:open-sessions:${stationId}`

export const endedSessionsKey = (shard: number) => `cuewire:${tagOf(shard)}:ended-sessions`

export const unflushedKey = (shard: number) => `cuewire:${tagOf(shard)}:unflushed`

export const flushingKey = (shard: number) => `cuewire:${tagOf(shard)}:flushing`

export const changesChannel = (shard: number) => `cuewire:${tagOf(shard)}:changes`

export const probeKey = (shard: number) => `cuewire:${tagOf(shard)}:probe`

/** Keys like those of `src/stores/jobs`, which never exist. */
export const jobProbeKeys = ['{cuewire}probe', 'bull:{cuewire}probe'] as const

export const followersKey = (processId: string) => `cuewire:{followers}:${processId}`

export const followerProcessesKey = 'cuewire:{followers}'

export const hlsWantedKey = (shortName: string) => `cuewire:hls-wanted:${shortName}`

export const hlsListenersKey = (shortName: string) => `cuewire:hls-listeners:${shortName}`

export const webhookTestKey = (webhookId: number) => `cuewire:webhook-test:${webhookId}`

export const tokenBucketKey = (limit: string, hash: string) => `cuewire:tokens:${limit}:${hash}`

/** The keys of the jobs have one hash tag, so that scripts may touch those of a queue together. */
export const scheduledPlaysKey = '{cuewire}plays'

export const deliverQueue = '{cuewire}deliver'

export const passkeyChallengeKey = (challenge: string) => `cuewire:passkey-challenge:${challenge}`
