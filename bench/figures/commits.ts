import { Redis } from 'ioredis'

import { changesChannel, shardOf } from '../../src/stores/redis/keys.ts'
import { nowMs } from '../clock.ts'

export interface Commits {
  /** The time (`nowMs`) at which each song change was received from Redis, by the offset of its state. */
  readonly atMs: ReadonlyMap<number, number>
  close(): void
}

/** Subscribes to the changes channel of a station, as servers do, and records its song changes. */
export async function subscribeToCommits(redisUrl: string, stationId: number): Promise<Commits> {
  const redis = new Redis(redisUrl)
  const atMs = new Map<number, number>()
  const isOfStation = new RegExp(`^\\{"stationId":${stationId}\\b`)
  redis.on('smessage', (_channel: string, message: string) => {
    const receivedAtMs = nowMs()
    const offset = Number(/"position":"[^":]+:(\d+)/.exec(message)?.[1])
    if (isOfStation.test(message) && message.includes('"song_changed"') && !atMs.has(offset))
      atMs.set(offset, receivedAtMs)
  })
  await redis.ssubscribe(changesChannel(shardOf(stationId)))
  return { atMs, close: () => redis.disconnect() }
}
