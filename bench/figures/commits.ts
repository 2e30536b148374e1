import { Redis } from 'ioredis'

import { changesChannel, shardOf } from '../../src/redis/keys.ts'
import { nowMs } from '../clock.ts'

export interface Commits {
  /** When each version of the station was told, on the common clock. */
  readonly atMs: ReadonlyMap<number, number>
  close(): void
}

/** Hears the commits of a station as servers do. Only changes of the song count. */
export async function hearCommits(redisUrl: string, stationId: number): Promise<Commits> {
  const redis = new Redis(redisUrl)
  const atMs = new Map<number, number>()
  const heard = (message: string) => {
    const heardAtMs = nowMs()
    const version = Number(/"position":"[^":]+:(\d+)/.exec(message)?.[1])
    const isOurs = new RegExp(`"stationId":${stationId}\\b`).test(message)
    if (isOurs && message.includes('"song_changed"') && !atMs.has(version)) atMs.set(version, heardAtMs)
  }
  redis.on('smessage', (_channel, message) => heard(message))
  await redis.ssubscribe(changesChannel(shardOf(stationId)))
  return { atMs, close: () => redis.disconnect() }
}
