import type { AutodjRules, AutodjLibrary, PendingRequest, RemovedRow } from '../model/autodj/library.ts'
import type { QueuedRow } from '../model/autodj/queue-draft.ts'
import { getTimeZone } from '../model/autodj/time-zone.ts'
import { onAirMsFragment, overlapMsFragment } from '../stores/db/library/cue-columns.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { StationChange } from './change-station.ts'
import { type LibraryCache, newestCachedPlayId, readLibrary } from './queue/library-cache.ts'
import { toLibraryPast, type NewPlay, readPlays } from './queue/library-past.ts'
import type { StationLibrary } from './queue/packed-library.ts'
import { readStationsOnAir, type StationOnAir } from './station-facts.ts'

/** A station with everything that its AutoDJ depends on. */
export interface QueueContext extends StationOnAir {
  readonly autodj: AutodjFacts
  readonly queue: readonly UnplayedRow[]
  readonly library: AutodjLibrary
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/** What every queue context of a station needs. */
export interface QueueContextReads {
  readonly autodj: AutodjFacts
  readonly queue: readonly UnplayedRow[]
  /** The plays from the newest one of the cached library on; none if no library is cached. */
  readonly newPlays: readonly NewPlay[]
}

/** Reads what the queue contexts of stations need, by station. All statements are sent at once. */
export async function readForQueueContexts(
  tx: Tx,
  stationIds: readonly number[],
  libraries: LibraryCache | null
): Promise<Map<number, QueueContextReads>> {
  const cached = stationIds.flatMap(id => {
    const newestId = libraries && newestCachedPlayId(libraries, id)
    return newestId === null ? [] : [{ id, newestId }]
  })
  const ids = cached.map(({ id }) => id)
  const [facts, rows, plays] = await Promise.all([
    readAutodjFacts(tx, stationIds),
    readQueueRows(tx, stationIds),
    ids.length === 0 ? [] : readPlays(tx, ids, { ids: cached.map(({ newestId }) => newestId) })
  ])
  return new Map(
    facts.map(autodj => {
      const isOwn = ({ stationId }: { readonly stationId: number }) => stationId === autodj.id
      return [autodj.id, { autodj, queue: rows.filter(isOwn), newPlays: plays.filter(isOwn) }]
    })
  )
}

/** Reads what the queue context of one station needs. Throws if it does not exist. */
export async function readForQueueContext(
  tx: Tx,
  stationId: number,
  libraries: LibraryCache | null
): Promise<QueueContextReads> {
  const reads = (await readForQueueContexts(tx, [stationId], libraries)).get(stationId)
  if (!reads) throw new Error(`station ${stationId} does not exist`)
  return reads
}

/** The context at the beginning of a change. */
export async function readQueueContext(
  change: StationChange,
  reads?: QueueContextReads
): Promise<QueueContext> {
  const { tx, services, station, isPulledBack } = change
  const libraries = isPulledBack ? null : services.libraries
  const read = reads ?? (await readForQueueContext(tx, station.id, libraries))
  return readContext(tx, change, station.readAtMs, libraries, read)
}

/** The context within a change that has changed the queue or the play, or (`isLibraryChanged`) the library. */
export async function rereadQueueContext(
  { tx, services, station: { id }, isPulledBack, afterCommit }: StationChange,
  nowMs: number,
  { isLibraryChanged }: { readonly isLibraryChanged: boolean }
): Promise<QueueContext> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (isLibraryChanged) await tx`set constraints all immediate`
  const libraries = isPulledBack ? null : services.libraries
  const context = await readCurrentContext(
    tx,
    id,
    nowMs,
    libraries,
    isLibraryChanged ? afterCommit : undefined
  )
  if (!context) throw new Error(`station ${id} does not exist, although it is locked`)
  return context
}

/** The context of a station that is not locked; null if it does not exist. */
export const readQueueContextUnlocked = (tx: Tx, stationId: number, nowMs: number) =>
  readCurrentContext(tx, stationId, nowMs, null)

async function readCurrentContext(
  tx: Tx,
  stationId: number,
  nowMs: number,
  libraries: LibraryCache | null,
  afterCommit?: StationChange['afterCommit']
): Promise<QueueContext | null> {
  const ids = [stationId]
  const [[station], read] = await Promise.all([
    readStationsOnAir(tx, ids),
    readForQueueContexts(tx, ids, libraries)
  ])
  const reads = read.get(stationId)
  return station && reads ? readContext(tx, station, nowMs, libraries, reads, afterCommit) : null
}

async function readContext(
  tx: Tx,
  { station, play }: StationOnAir,
  nowMs: number,
  libraries: LibraryCache | null,
  { autodj, queue, newPlays }: QueueContextReads,
  afterCommit?: StationChange['afterCommit']
): Promise<QueueContext> {
  const [requests, removed] = await Promise.all([
    autodj.hasRequests ? readUnplayedRequests(tx, [station.id]) : [],
    autodj.hasRemovedRows ? readRemovedRows(tx, [station.id], nowMs) : []
  ])
  const { playlists, past } = autodj.hasAutodj
    ? await readLibrary(tx, autodj, nowMs, libraries && { libraries, plays: newPlays, afterCommit })
    : noLibrary
  const library = { rules: toAutodjRules(autodj), playlists, past: toLibraryPast(past, removed), requests }
  return { station, play, autodj, queue, library }
}

/** What the AutoDJ of a station depends on, besides its queue and its library. */
export interface AutodjFacts {
  readonly id: number
  /** The AutoDJ plans its queue. */
  readonly hasAutodj: boolean
  readonly queueLength: number
  readonly nextSeq: number
  readonly libraryVersion: number
  /** The version of the library for which the queue was planned. */
  readonly filledVersion: number
  readonly duplicateRangeMs: number
  readonly requestThresholdMs: number
  readonly randomSeed: number
  readonly timezone: string
  readonly overlapMs: number
  readonly consecutiveRequests: number
  readonly overrunMs: number
  readonly cutsBeforeSent: boolean
  /** Requests wait to be played. */
  readonly hasRequests: boolean
  /** Operators have removed rows from its queue. */
  readonly hasRemovedRows: boolean
}

/** Reads what the AutoDJs of stations depend on. Sent at once. */
export async function readAutodjFacts(tx: Tx, stationIds: readonly number[]): Promise<AutodjFacts[]> {
  return tx<AutodjFacts[]>`
    select s.id, s.is_enabled and s.backend <> 'none' as "hasAutodj", s.queue_length as "queueLength",
      s.random_seed as "randomSeed", s.next_seq as "nextSeq", coalesce(l.version, 0) as "libraryVersion",
      s.filled_version as "filledVersion", s.timezone,
      s.duplicate_prevention_time_range * 60000 as "duplicateRangeMs",
      s.request_threshold * 60000 as "requestThresholdMs", s.max_consecutive_requests as "consecutiveRequests",
      s.max_overrun * 1000 as "overrunMs",
      s.backend = 'liquidsoap' and exists (
        select from playouts o where o.station_id = s.id and o.takes_commands) as "cutsBeforeSent",
      exists (select from requests r where r.station_id = s.id and r.state in ('pending', 'queued')) as "hasRequests",
      exists (
        select from queue q where q.station_id = s.id and q.skipped_at_ms is not null
          and q.playlist_id is not null) as "hasRemovedRows",
      case when s.backend <> 'liquidsoap' then 0
        when s.enable_auto_cue then ${measuredOverlap(tx)}
        when s.crossfade_type = 'none' then 0
        else round((s.crossfade * 1500)::numeric, -1)::integer end as "overlapMs"
    from stations s left join libraries l on l.station_id = s.id
    where s.id = any(${[...stationIds]}::bigint[]) and s.deleted_at is null order by s.id`.execute()
}

const overlapsAtMost = 20
const overlapsAtLeast = 3
/** Only among a station's last plays: where few are suitable, all of its history would be read. */
const overlapsAmong = 200
const longestOverlapMs = 15_000

/** The overlap of recent songs: the median of the measured ones, 0 if there are too few. */
const measuredOverlap = (tx: Tx) => tx`(
  select case when count(*) < ${overlapsAtLeast} then 0
    else round(percentile_cont(0.5) within group (order by x.overlap))::integer end
  from (
    select h.duration_ms - (h.ended_at_ms - h.started_at_ms) as overlap from (
      select * from song_history where station_id between s.id and s.id
      order by station_id desc, started_at_ms desc, id desc limit ${overlapsAmong}
    ) h
    where h.ended_at_ms is not null and not h.is_bridged
      and h.streamer = '' and h.duration_ms > 0
      and h.duration_ms - (h.ended_at_ms - h.started_at_ms) between 0 and ${longestOverlapMs}
    order by h.started_at_ms desc, h.id desc limit ${overlapsAtMost}
  ) x)`

/** The settings for the AutoDJ. */
export function toAutodjRules(facts: AutodjFacts): AutodjRules {
  return { ...facts, zone: getTimeZone(facts.timezone), seed: facts.randomSeed }
}

export interface UnplayedRow extends QueuedRow {
  readonly stationId: number
  readonly seq: number
}

/** The queued rows of stations, in playing order, sent rows first. */
export async function readQueueRows(tx: Tx, stationIds: readonly number[]): Promise<UnplayedRow[]> {
  const rows = await tx<(Omit<UnplayedRow, 'song'> & KeysRow)[]>`
    select q.station_id as "stationId", q.id, q.seq, q.position, q.playlist_id as "playlistId",
      q.track_id as "trackId", q.media_id as "mediaId", q.pass, q.request_id as "requestId",
      q.occurrence_ms as "occurrenceMs", q.is_visible as "isVisible", q.is_interrupt as "isInterrupt",
      q.is_sent as "isSent", q.is_manual as "isManual", q.batch, q.duration_ms as "durationMs",
      ${overlapMsFragment(tx)} as "overlapMs", q.cued_at_ms as "cuedAtMs", q.plays_at_ms as "startsAtMs", ${keysOf(tx)}
    from queue q ${itsMedia(tx, 'q')}
    where q.station_id = any(${[...stationIds]}::bigint[]) and q.played_at_ms is null and q.skipped_at_ms is null
    order by q.station_id, q.is_sent desc, q.position`
  return rows.map(withKeys)
}

export interface RequestRow extends PendingRequest {
  readonly stationId: number
}

const requestsAtMost = 500

/** The requests that were not played, in order of submission. */
export async function readUnplayedRequests(tx: Tx, stationIds: readonly number[]): Promise<RequestRow[]> {
  const rows = await tx<(Omit<RequestRow, 'song'> & KeysRow)[]>`
    select r.station_id as "stationId", r.id, r.media_id as "mediaId", ${onAirMsFragment(tx)} as "durationMs",
      ${overlapMsFragment(tx)} as "overlapMs",
      r.due_at_ms as "dueAtMs", r.skip_delay as "skipsDelay", ${keysOf(tx)}
    from requests r ${itsMedia(tx, 'r')}
    where r.station_id = any(${[...stationIds]}::bigint[]) and r.state in ('pending', 'queued')
    order by r.id limit ${requestsAtMost * stationIds.length}`
  return rows.map(withKeys)
}

const removedForMs = 7 * 86_400_000

/** Rows that operators removed from queues within the last week. */
export function readRemovedRows(tx: Tx, stationIds: readonly number[], nowMs: number) {
  return tx<(RemovedRow & { readonly stationId: number })[]>`
    select station_id as "stationId", playlist_id as "playlistId", track_id as "trackId", pass,
      plays_at_ms as "startsAtMs", occurrence_ms as "occurrenceMs"
    from queue
    where station_id = any(${[...stationIds]}::bigint[]) and skipped_at_ms > ${nowMs - removedForMs}
      and playlist_id is not null
    order by skipped_at_ms desc limit 1000`
}

type KeysRow = { songKey: number; titleKey: number; artistKeys: number[] }

/** Joins `m` row by row: otherwise Postgres might go through all media. */
const itsMedia = (tx: Tx, table: 'q' | 'r') => tx`
  cross join lateral (select * from media where id = ${tx(table)}.media_id limit 1) m`

const keysOf = (tx: Tx) => tx`
  m.song_key as "songKey", coalesce(m.title_key, 0) as "titleKey", coalesce(m.artist_keys, '{}') as "artistKeys"`

function withKeys<Row extends KeysRow>({ songKey: song, titleKey: title, artistKeys, ...row }: Row) {
  return { ...row, song: { song, title, artists: artistKeys.map(Number) } }
}
