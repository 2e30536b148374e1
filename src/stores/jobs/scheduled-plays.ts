import type { RedisClient } from '../redis/connection.ts'
import { scheduledPlaysKey as key } from '../redis/keys.ts'

/** A play of a station and when it has to end (Unix milliseconds). */
export interface ScheduledPlay {
  readonly stationId: number
  readonly shId: number
  readonly dueAtMs: number
}

export type ScheduledPlays = ReturnType<typeof openScheduledPlays>

/**
 * The plays that have to end: `STATION-PLAY-DUE`, scored with the due time. One command adds or takes any number of
 * them, which jobs of BullMQ cannot. A play that a process took and did not end is overdue, and the sweep ends it.
 */
export function openScheduledPlays(redis: RedisClient) {
  return {
    /** Adds plays; adding one again is a no-op. If an end moves, the old entry has no effect. */
    add: async (plays: readonly ScheduledPlay[]): Promise<void> => {
      if (plays.length === 0) return
      await redis.zadd(key, ...plays.flatMap(play => [String(play.dueAtMs), formatPlay(play)]))
    },
    /** Removes and returns plays that are due by a time, the earliest first. No other process gets them. */
    take: async (untilMs: number, atMost: number): Promise<ScheduledPlay[]> =>
      (await redis.takeDuePlays(key, untilMs, atMost)).map(parsePlay),
    /** Reads the number of plays, of those that were due before a time, and the earliest due time. */
    count: async (beforeMs: number) => {
      const [count, overdue, [earliest]] = await Promise.all([
        redis.zcard(key),
        redis.zcount(key, '-inf', `(${beforeMs}`),
        redis.zrange(key, '0', '0')
      ])
      return { count, overdue, earliestMs: earliest === undefined ? null : parsePlay(earliest).dueAtMs }
    }
  }
}

const formatPlay = ({ stationId, shId, dueAtMs }: ScheduledPlay) => `${stationId}-${shId}-${dueAtMs}`

function parsePlay(member: string): ScheduledPlay {
  const [stationId = 0, shId = 0, dueAtMs = 0] = member.split('-').map(Number)
  return { stationId, shId, dueAtMs }
}
