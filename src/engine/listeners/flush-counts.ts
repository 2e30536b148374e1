import { forEachStation, forStationsTogether } from '../../platform/isolation/for-each-station.ts'
import { flushedStationsMetric } from '../../platform/metrics/engine.ts'
import { openCoalescer } from '../../platform/runtime/coalesce.ts'
import { beginForStation } from '../../stores/db/begin-for-station.ts'
import { readSnapshots } from '../../stores/db/snapshots.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import {
  acquireFlushLease,
  type TotalChangeEvent,
  readUnflushedCounts,
  findUnflushedStations,
  acknowledgeFlush,
  type UnflushedStation
} from '../../stores/redis/listener-store.ts'
import { findUnflushedShards } from '../../stores/redis/shard-commands.ts'
import type { EngineServices } from '../services.ts'
import { flushSessions } from './flush-sessions.ts'

/*
 * Listeners are counted in Redis. The flush writes the counts to Postgres as absolute values, guarded by the
 * offset, so that it may be repeated, and an older flush changes nothing. Then it removes from Redis what was
 * written.
 */

/** Stations per transaction. */
const stationsPerTransaction = 200
/** Stations per shard and run; the others follow in the next one. */
const stationsPerShard = 2_000
/** How long one process holds the lease of the flush of a shard. Less than the shortest pause between runs. */
const leaseMs = 700

/**
 * Flushes counts and ended sessions of the shards whose lease no other process holds. Only shards with something to
 * flush are leased, because a lease is a write. Returns the number of stations.
 */
export async function flushCounts(services: EngineServices, signal?: AbortSignal): Promise<number> {
  const { redis } = services
  const found = await Promise.all(
    (await findUnflushedShards(redis)).map(async shard =>
      (await acquireFlushLease(redis, shard, leaseMs))
        ? { shard, stationIds: await findUnflushedStations(redis, shard, stationsPerShard) }
        : null
    )
  )
  const leased = found.filter(each => each !== null)
  const stationIds = leased.flatMap(each => each.stationIds)
  for (let start = 0; start < stationIds.length; start += stationsPerTransaction) {
    signal?.throwIfAborted()
    await flushStationCounts(services, stationIds.slice(start, start + stationsPerTransaction))
  }
  signal?.throwIfAborted()
  await flushSessions(
    services,
    leased.map(({ shard }) => shard)
  )
  return stationIds.length
}

/** Flushes these stations now. Stations that another transaction has locked are left to the next run. */
export async function flushStationCounts(
  services: EngineServices,
  stationIds: readonly number[]
): Promise<void> {
  const { redis, sql } = services
  const waiting = new Map<number, UnflushedStation>()
  const read = async ({ stationId }: { stationId: number }) => {
    const flush = await readUnflushedCounts(redis, stationId)
    if (flush !== null) waiting.set(stationId, flush)
  }
  const stations = stationIds.map(stationId => ({ stationId }))
  await forEachStation(services, 'counts_read', stations, read, { concurrency: stationsPerTransaction })
  const withEvents = [...waiting.values()].filter(({ events }) => events.length > 0)
  // The counts are acknowledged together with the events, so they wait for them.
  for (const { stationId } of withEvents) waiting.delete(stationId)
  const writeEvents = async (flush: UnflushedStation) => {
    await writeCountEvents(services, flush)
    waiting.set(flush.stationId, flush)
  }
  await forEachStation(services, 'count_events', withEvents, writeEvents, { concurrency: 1 })
  if (waiting.size === 0) return
  await forStationsTogether(services, 'counts', [...waiting.keys()], async ids => {
    const flushes = ids.flatMap(id => waiting.get(id) ?? [])
    const written = await writeCounts(sql, flushes)
    flushedStationsMetric.value += written.size
    await Promise.all(
      flushes
        .filter(({ stationId }) => written.has(stationId))
        .map(async flush => acknowledgeFlush(redis, flush))
    )
  })
}

const flushes = openCoalescer<number, void>()

/** Flushes a station that has events for web hooks, in the background. If that fails, the workers retry. */
export function flushCountsInBackground(services: EngineServices, stationId: number): void {
  const flush = () => flushStationCounts(services, [stationId])
  flushes
    .run(stationId, flush)
    .catch((error: unknown) =>
      services.log.warn({ err: error, station: stationId }, 'listener counts not flushed; retrying')
    )
}

/** Writes the counts of stations that are not locked. Returns these stations. */
async function writeCounts(sql: Sql, waiting: readonly UnflushedStation[]): Promise<ReadonlySet<number>> {
  return sql.begin(async tx => {
    const ids = waiting.map(({ stationId }) => stationId)
    // Without waiting: other transactions lock a station and then its rows.
    const locked = await tx<{ id: number }[]>`
      select id from stations where id = any(${ids}::bigint[]) order by id for no key update skip locked`
    const lockedIds = new Set(locked.map(({ id }) => id))
    await writeLocked(
      tx,
      waiting.filter(({ stationId }) => lockedIds.has(stationId))
    )
    return lockedIds
  })
}

async function writeLocked(tx: Tx, locked: readonly UnflushedStation[]): Promise<void> {
  const stations = locked.map(({ stationId, offset, counting: { total, unique } }) => ({
    id: stationId,
    at: offset,
    total,
    unique
  }))
  const sources = locked.flatMap(({ stationId, counting }) =>
    Object.entries(counting.sources).map(([key, { total, unique }]) => {
      const [kind, id] = key.split(':')
      const hls = counting.sources[`hls:${id}`]
      return {
        station: stationId,
        kind,
        id: Number(id),
        total,
        unique,
        hls: hls?.total,
        hlsUnique: hls?.unique
      }
    })
  )
  // Joined here, because Postgres would compare each source with every other one.
  const mounts = sources.filter(({ kind }) => kind === 'mount')
  const remotes = sources.filter(({ kind }) => kind === 'remote')
  const plays = locked.flatMap(({ stationId, offset: at, counting: { play, total }, ended }) =>
    [...(play ? [{ ...play, end: total }] : []), ...ended].map(numbers => ({
      station: stationId,
      at,
      ...numbers
    }))
  )
  const minutes = locked.flatMap(({ stationId, offset, counting: { minute }, minutes: past }) =>
    [...(minute ? [minute] : []), ...past].map(({ at: of, ...counts }) => ({
      station: stationId,
      minute: of,
      at: offset,
      ...counts
    }))
  )
  await tx`
    with new_stations as (select * from jsonb_to_recordset(${tx.json(stations)})
      as x (id bigint, at bigint, total integer, "unique" integer)
    ), new_mounts as (select * from jsonb_to_recordset(${tx.json(mounts)})
      as x (station bigint, id bigint, total integer, "unique" integer, hls integer, "hlsUnique" integer)
    ), new_remotes as (select * from jsonb_to_recordset(${tx.json(remotes)})
      as x (station bigint, id bigint, total integer, "unique" integer)
    ), new_plays as (select * from jsonb_to_recordset(${tx.json(plays)})
      as x (station bigint, id bigint, at bigint, next bigint, start integer, "end" integer, gained integer, lost integer,
        peak integer, "unique" integer)
    ), fresh as (
      update stations s set listeners_total = x.total, listeners_unique = x."unique", counts_offset = x.at
      from new_stations x where s.id = x.id and s.counts_offset < x.at returning s.id
    ), mounts as (
      update hls_streams s set mount_listeners_total = x.total, mount_listeners_unique = x."unique",
        hls_listeners_total = x.hls, hls_listeners_unique = x."hlsUnique"
      from new_mounts x
      where s.id = x.id and s.station_id = x.station and s.station_id in (select id from fresh)
        and (s.mount_listeners_total, s.mount_listeners_unique, s.hls_listeners_total, s.hls_listeners_unique)
          is distinct from (x.total, x."unique", x.hls, x."hlsUnique")
    ), relays as (
      update remotes s set listeners_total = x.total, listeners_unique = x."unique"
      from new_remotes x
      where s.id = x.id and s.station_id = x.station and s.station_id in (select id from fresh)
        and (s.listeners_total, s.listeners_unique) is distinct from (x.total, x."unique")
    ), plays as (
      update song_history h set listeners_start = x.start, listeners_end = x."end", delta_positive = x.gained,
        delta_negative = x.lost, listeners_peak = x.peak, unique_listeners = x."unique", counts_offset = x.at
      from new_plays x where h.id = x.id and h.station_id = x.station and h.counts_offset < x.at
    ), unreported as (
      -- Plays that began and ended between two commits to Redis, which therefore had no reports; 1,000 at most.
      -- An array of ids, and an order that only one index has: with a join, Postgres expects so many plays that
      -- it reads the whole history.
      update song_history h set (listeners_start, listeners_end, listeners_peak) = (
        select x."end", x."end", x."end" from new_plays x
        where x.station = h.station_id and x.id < h.id and x.next > h.id order by x.id desc limit 1)
      where h.counts_offset = 0 and h.id = any(array(
        select p.id from new_plays x cross join lateral (
          select id from song_history p
          where (p.station_id, p.id) > (x.station, x.id) and (p.station_id, p.id) < (x.station, x.next)
            and p.counts_offset = 0
          order by p.station_id, p.id limit 1000
        ) p))
    )
    insert into listener_minutes as m (station_id, minute, total, "unique", most, fewest, counts_offset)
    select station, minute, total, "unique", most, fewest, at
    from jsonb_to_recordset(${tx.json(minutes)})
      as x (station bigint, minute integer, total integer, "unique" integer, most integer, fewest integer, at bigint)
    on conflict (station_id, minute) do update set total = excluded.total, "unique" = excluded."unique",
      most = excluded.most, fewest = excluded.fewest, counts_offset = excluded.counts_offset
      where m.counts_offset < excluded.counts_offset`
}

/** Writes changes of the total to the outbox, in their order. Idempotent: an event is written once. */
async function writeCountEvents(services: EngineServices, flush: UnflushedStation): Promise<void> {
  const { stationId, events } = flush
  const webhookIds = await beginForStation(services.sql, stationId, async tx => {
    const [snapshot] = await readSnapshots(tx, [stationId])
    if (!snapshot) return []
    const ids: number[] = []
    for (const event of events) {
      const { total, unique } = event
      const shown = { ...snapshot, listeners: { ...snapshot.listeners, total, unique } }
      ids.push(...(await services.outbox.writeEvent(tx, shown, eventOf(event))))
    }
    return ids
  })
  await services.dispatchDeliveries([...new Set(webhookIds)])
}

const eventOf = ({ offset, trigger, atMs }: TotalChangeEvent) => ({
  fact: `count:${offset}`,
  triggers: [trigger],
  happenedAtMs: atMs
})
