import { forStationsTogether } from '../../platform/isolation/for-each-station.ts'
import { parseUrl } from '../../platform/outbound/networks.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { RedisClient } from '../../stores/redis/connection.ts'
import {
  type EndedSession,
  readEndedSessions,
  removeEndedSessions,
  firstStreamId
} from '../../stores/redis/session-store.ts'
import type { EngineServices } from '../services.ts'

/*
 * Sessions that ended are in a stream in Redis until they are in Postgres. A session has the same key each time it is
 * written, so the flush may be repeated, also after Redis has restored an old dump.
 */

/** Sessions per statement, and per shard and run; the others follow in the next one. */
const atMost = 2_000
/** Pages of `atMost` sessions that are read per shard and run, to find those of stations that do not fail. */
const maxPages = 10

/**
 * The last entry of each shard that was read. Entries before it are those of stations that failed, and wait for the
 * next round.
 */
const positions = new WeakMap<RedisClient, Map<number, string>>()

/** Reads the next sessions of a shard, of stations that are not paused. Begins anew once it has reached the end. */
async function readNextSessions(redis: RedisClient, shard: number, paused: ReadonlySet<number>) {
  const known = positions.get(redis) ?? new Map<number, string>()
  positions.set(redis, known)
  const found: Awaited<ReturnType<typeof readEndedSessions>> = []
  for (let page = 0; page < maxPages && found.length < atMost; page++) {
    const entries = await readEndedSessions(redis, shard, known.get(shard) ?? firstStreamId, atMost)
    found.push(...entries.filter(({ session }) => !paused.has(session.stationId)))
    const last = entries.at(-1)
    if (last === undefined || entries.length < atMost) {
      known.delete(shard)
      break
    }
    known.set(shard, last.id)
  }
  return found
}

/** Writes the ended sessions of these shards to Postgres. */
export async function flushSessions(
  services: Pick<EngineServices, 'sql' | 'redis' | 'stationFaults'>,
  shards: readonly number[]
): Promise<void> {
  const { sql, redis, stationFaults } = services
  const paused = new Set(stationFaults.pausedIds('sessions'))
  const read = await Promise.all(
    shards.map(async shard => ({ shard, entries: await readNextSessions(redis, shard, paused) }))
  )
  const waiting = read.filter(({ entries }) => entries.length > 0)
  const sessions = waiting.flatMap(({ entries }) => entries.map(({ session }) => session))
  const stationIds = [...new Set(sessions.map(({ stationId }) => stationId))]
  const written = await forStationsTogether(services, 'sessions', stationIds, async ids => {
    const isIncluded = new Set(ids)
    const own = sessions.filter(({ stationId }) => isIncluded.has(stationId))
    for (let start = 0; start < own.length; start += atMost)
      await writeSessions(sql, own.slice(start, start + atMost))
    return ids
  })
  const isWritten = new Set(written.flat())
  await Promise.all(
    waiting.map(({ shard, entries }) =>
      removeEndedSessions(
        redis,
        shard,
        entries.flatMap(({ id, session }) => (isWritten.has(session.stationId) ? id : []))
      )
    )
  )
}

/** Writes sessions of stations that exist. */
async function writeSessions(sql: Sql, sessions: readonly EndedSession[]): Promise<void> {
  // Postgres refuses to update a row twice in a statement.
  const byKey = new Map<string, EndedSession>()
  for (const session of sessions) {
    const key = [session.stationId, session.startMs, session.offset, session.ordinal].join(' ')
    const known = byKey.get(key)
    if (!known || known.endMs < session.endMs) byKey.set(key, session)
  }
  const rows = [...byKey.values()].map(session => ({
    ...session,
    endMs: Math.max(session.startMs, session.endMs),
    stream: renderSourceName(session)
  }))
  await sql`
    insert into listener_sessions as s
      (station_id, started_at_ms, opened, ordinal, ended_at_ms, source, stream, family, client, country)
    select x."stationId", x."startMs", x."offset", x.ordinal, x."endMs", x.source, x.stream, x.family, x.client, x.country
    from jsonb_to_recordset(${sql.json(rows)}) as x ("stationId" bigint, "startMs" bigint, "offset" bigint, ordinal integer,
        "endMs" bigint, source text, stream text, family text, client text, country text)
      join stations on stations.id = x."stationId" and stations.deleted_at is null
    on conflict (station_id, started_at_ms, opened, ordinal) do update set ended_at_ms = excluded.ended_at_ms
      where s.ended_at_ms < excluded.ended_at_ms`
}

const maxNameLength = 255

/** The path of a mount; of a remote its URL, without what may contain a password or token. */
export function renderSourceName({ source, path }: Pick<EndedSession, 'source' | 'path'>): string {
  const url = source === 'remote' ? parseUrl(path) : null
  return (url === null ? path : url.origin + url.pathname).slice(0, maxNameLength)
}
