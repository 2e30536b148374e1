import { airtimeMs, nextStartMs, overlapWithNextMs } from '../model/autodj/durations.ts'
import type { PartRevisions } from '../model/station/state.ts'
import type { Trigger, TriggerState } from '../model/station/triggers.ts'
import { literalLimit } from '../stores/db/batches.ts'
import { overlapMsFragment } from '../stores/db/library/cue-columns.ts'
import { raiseLibraryVersion } from '../stores/db/library/library.ts'
import type { Sql, Tx } from '../stores/db/sql.ts'

/** What every change knows of its station. What the AutoDJ depends on besides are `AutodjFacts`. */
export interface StationFacts {
  readonly id: number
  /** The time of Postgres when this was read, in Unix milliseconds: the time of the change. */
  readonly readAtMs: number
  readonly epoch: string
  readonly revision: number
  /** Null if the station is disabled. */
  readonly enabledBackend: 'clock' | 'liquidsoap' | 'none' | null
  /** When the current broadcast began; null: no streamer is live. */
  readonly liveSinceMs: number | null
  readonly listenersTotal: number
  readonly listenersUnique: number
  /** The triggers of each enabled web hook; an empty list stands for all. */
  readonly hookTriggers: readonly (readonly Trigger[])[]
}

/** The current play. */
export interface OpenPlay {
  readonly id: number
  readonly songId: string
  readonly playlistId: number | null
  readonly startedAtMs: number
  readonly durationMs: number
  /** How long it overlaps with the next one; null: as long as the station defines. */
  readonly overlapMs: number | null
  /** When the clock ends it; null: only a report does. */
  readonly dueAtMs: number | null
  /** It interrupted another play, so interrupts that were due before do not cut it. */
  readonly isInterrupt: boolean
  readonly artist: string
  readonly title: string
  /** The streamer who plays it; empty: none. */
  readonly streamer: string
  /** It is provisional: the clock started it, and no report has confirmed it. */
  readonly isProvisional: boolean
}

/** A station with its current play; null while it is silent. */
export interface StationOnAir {
  readonly station: StationFacts
  readonly play: OpenPlay | null
}

/**
 * Locks the rows of stations, then reads them. The lock allows inserts into tables that refer to the station.
 * Two statements, because one that waits for a lock sees other tables as they were before.
 */
export async function lockStations(tx: Tx, stationIds: readonly number[]): Promise<StationOnAir[]> {
  const locked = tx`
    select from stations where id = any(${[...stationIds]}::bigint[]) order by id for no key update`.execute()
  const [, stations] = await Promise.all([locked, readStationsOnAir(tx, stationIds)])
  return stations
}

/**
 * Locks the rows of stations that nobody else has locked, and returns their ids. The rest of the transaction waits
 * at most `timeoutMs` for a lock.
 */
export async function tryLockStations(tx: Tx, stationIds: readonly number[], timeoutMs: number) {
  const rows = await tx<{ id: number }[]>`
    select s.id from stations s, (select set_config('lock_timeout', ${String(timeoutMs)}, true)) setting
    where s.id = any(${[...stationIds]}::bigint[]) and s.deleted_at is null
    order by s.id ${skipLockedFragment(tx)}`.execute()
  return new Set(rows.map(({ id }) => id))
}

/** Ends a query for stations `s` that are changed one by one: leaves locked rows to the next run. */
export const skipLockedFragment = (sql: Sql | Tx) => sql`for no key update of s skip locked`

type PlayRow = Omit<OpenPlay, 'id' | 'isInterrupt'> & { readonly playId: number }
/** The columns of the play are null while the station is silent. */
type StationRow = StationFacts & { readonly isInterrupt: boolean } & (
    | PlayRow
    | { readonly [Column in keyof PlayRow]: null }
  )

/** Reads stations, whether they are locked or not. Sent at once. */
export async function readStationsOnAir(tx: Tx, stationIds: readonly number[]): Promise<StationOnAir[]> {
  const rows = await tx<StationRow[]>`
    select s.id, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as "readAtMs", s.epoch, s.revision,
      case when s.is_enabled then s.backend end as "enabledBackend",
      (select b.started_at_ms from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as "liveSinceMs",
      s.listeners_total as "listenersTotal", s.listeners_unique as "listenersUnique",
      coalesce((
        select json_agg(w.triggers) from webhooks w where w.station_id = s.id and w.is_enabled), '[]') as "hookTriggers",
      h.id as "playId", h.song_id as "songId", h.playlist_id as "playlistId", h.started_at_ms as "startedAtMs",
      h.duration_ms as "durationMs", ${overlapMsFragment(tx)} as "overlapMs", h.due_at_ms as "dueAtMs",
      h.artist, h.title, h.streamer, h.is_bridged as "isProvisional",
      coalesce(p.backend_options like '%interrupt%', false) as "isInterrupt"
    from stations s
      -- Row by row: otherwise Postgres might go through all rows of these tables.
      left join lateral (select * from song_history where station_id = s.id and ended_at_ms is null limit 1) h on true
      left join lateral (select backend_options from playlists where id = h.playlist_id limit 1) p on true
      left join lateral (select * from media where id = h.media_id limit 1) m on true
    where s.id = any(${[...stationIds]}::bigint[]) and s.deleted_at is null order by s.id`.execute()
  return rows.map(splitRow)
}

function splitRow({
  playId,
  songId,
  playlistId,
  startedAtMs,
  durationMs,
  overlapMs,
  dueAtMs,
  artist,
  title,
  streamer,
  isProvisional,
  isInterrupt,
  ...station
}: StationRow): StationOnAir {
  if (playId === null) return { station, play: null }
  const times = { startedAtMs, durationMs, overlapMs, dueAtMs }
  const song = { songId, playlistId, artist, title, streamer }
  return { station, play: { id: playId, ...song, ...times, isProvisional, isInterrupt } }
}

/** When a play ends if nothing cuts it. */
export function naturalEndMs({ startedAtMs, durationMs }: OpenPlay): number {
  return startedAtMs + airtimeMs(durationMs)
}

/** When the next play begins if nothing cuts this one; a playout crossfades. */
export function nextPlayAtMs(play: OpenPlay, stationOverlapMs: number): number {
  return nextStartMs(play.startedAtMs, play.durationMs, overlapWithNextMs(play, stationOverlapMs))
}

/** The values of a locked station that triggers depend on, before it is changed. */
export function toTriggerState({ station, play }: StationOnAir): TriggerState {
  const current = play && { shId: play.id }
  const live = station.liveSinceMs === null ? null : { startedAtMs: station.liveSinceMs }
  return { current, shown: current, listeners: { total: station.listenersTotal }, live }
}

/** Smaller differences are the error of the clock measurement, or of the clocks of playouts. */
export const maxClockErrorMs = 1_000
/** Maximum number of plays that are pulled back at once. */
const playsAtMost = 1_000

/** Whether a station may have plays that begin or end after now. */
export const mayHaveFuturePlays = ({ station, play }: StationOnAir) =>
  // A silent station may have a play that ended after now.
  play === null || play.startedAtMs > station.readAtMs + maxClockErrorMs

/** Moves plays and broadcasts that begin or end after now, because of a wrong clock, to now. */
export async function pullBackFuturePlays(tx: Tx, onAir: StationOnAir): Promise<boolean> {
  const { id: stationId, readAtMs: nowMs } = onAir.station
  const fromMs = nowMs + maxClockErrorMs
  if (!mayHaveFuturePlays(onAir)) return false
  // Part of the text: for a parameter Postgres estimates a tenth of the table and reads all of it.
  const some = literalLimit(tx, playsAtMost)
  // Other plays may be less far ahead and would overlap with it.
  const plays = await tx`
    with near as (
      (select id, started_at_ms, ended_at_ms from song_history
        where (station_id, started_at_ms) > (${stationId}, ${nowMs}) and station_id <= ${stationId}
        order by station_id, started_at_ms ${some})
      union
      (select id, started_at_ms, ended_at_ms from song_history
        where station_id between ${stationId} and ${stationId} and ended_at_ms > ${nowMs}
        order by station_id, ended_at_ms desc ${some})
    )
    update song_history set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end,
      due_at_ms = due_at_ms - greatest(0, started_at_ms - ${nowMs})
    where id in (select id from near)
      and exists (select from near where started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  const broadcasts = await tx`
    update broadcasts set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end
    where id in (
        select id from broadcasts where station_id between ${stationId} and ${stationId}
        order by station_id, id desc ${some})
      and (ended_at_ms is null and started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  if (plays.count + broadcasts.count === 0) return false
  // Libraries in memory hold the wrong times.
  await raiseLibraryVersion(tx, stationId)
  return true
}

/** Columns of `stations` that changes write. */
export type StationColumns = { readonly [Name in StationColumn]?: number | null }

type StationColumn = 'wake_at_ms' | 'wake_version' | 'next_seq' | 'filled_version'

/** What is written to the row of a station. */
interface StationWrite {
  readonly stationId: number
  /** Parts whose revision is raised, with that of the station. */
  readonly parts: ReadonlySet<keyof PartRevisions>
  readonly columns: StationColumns
}

/** The statements that write stations: one for all that write the same parts and columns. */
export function stationWriteStatements(tx: Tx, writes: readonly StationWrite[]) {
  const groups = new Map<string, StationWrite[]>()
  for (const write of writes) {
    const names = namesOf(write)
    if (names.length === 0) continue
    const group = groups.get(names.join())
    if (group) group.push(write)
    else groups.set(names.join(), [write])
  }
  return [...groups.values()].map(group => writeAlike(tx, group))
}

const namesOf = ({ parts, columns }: StationWrite) => [...parts, ...columnsOf(columns)].toSorted()

const columnsOf = (columns: StationColumns) =>
  Object.keys(columns).filter((name): name is StationColumn => Object.hasOwn(columns, name))

/** `writes` have the same parts and columns. */
function writeAlike(tx: Tx, writes: readonly StationWrite[]) {
  const parts = [...(writes[0]?.parts ?? [])].toSorted()
  const names = columnsOf(writes[0]?.columns ?? {}).toSorted()
  const assignments = [
    ...names.map(name => tx`${tx(name)} = x.${tx(name)}`),
    ...(parts.length === 0 ? [] : [tx`revision = next_revision(s.revision)`]),
    ...parts.map(part => tx`${tx(`${part}_revision`)} = next_revision(s.revision)`)
  ]
  const values = names.map(name => tx`, ${writes.map(({ columns }) => columns[name] ?? null)}::bigint[]`)
  // In tests a database trigger refuses to raise a revision without this setting.
  const setting = tx`, (select set_config('cuewire.raises_revision', 'on', true)) setting`
  return tx`
    update stations s set ${assignments.reduce((all, each) => tx`${all}, ${each}`)}
    from unnest(${writes.map(({ stationId }) => stationId)}::bigint[]${values.reduce((all, each) => tx`${all}${each}`, tx``)})
      as x (${tx(['id', ...names])})${parts.length === 0 ? tx`` : setting}
    where s.id = x.id`
}
