import type { Playlist } from '../autodj/library.ts'
import { type Plan, refill } from '../autodj/refill.ts'
import { indexOf, markAired } from '../autodj/tracks.ts'
import type { Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { ApiError } from '../errors.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { type Libraries, librariesOf } from './libraries.ts'
import { isEmptyPlan, markQueue, planStatements } from './plan-statements.ts'
import { publishEventually, publishMany } from './publish.ts'
import { followedAtMs, type LiveRow, type LockedStation, naturalEndMs } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { type HeldStation, holdStation, holdStations } from './situation.ts'

/**
 * Takes an unplayed row out of the queue, gives its track back to the playlist (though not to the slot it leaves)
 * and fills the queue up; `note` is part of it. For the rules of its playlist it counts as played; a list in sequence goes on
 * behind it; a request is cancelled. Throws 404 for a row that is not in the station's queue, 409 for one that is on its way.
 */
export async function removeFromQueue(
  services: PlayoutServices,
  stationId: number,
  queueId: number,
  nowMs: number,
  note: (tx: Tx) => Promise<void> = async () => {}
): Promise<void> {
  await beginForStation(services.sql, stationId, async tx => {
    const held = await holdStation(tx, stationId, nowMs, null)
    const row = held?.queue.find(({ id }) => id === queueId)
    if (!held || !row) throw await missingRow(tx, stationId, queueId)
    if (row.isSent) throw new ApiError('conflict', onItsWay)
    await tx`update queue set skipped_at_ms = ${nowMs} where id = ${queueId}`
    if (row.requestId !== null)
      await tx`update requests set state = 'cancelled', ended_at_ms = ${nowMs} where id = ${row.requestId}`
    const playlist = held.library.playlists.find(({ id }) => id === row.playlistId)
    if (playlist?.order === 'sequential' && row.trackId !== null)
      await passOver(tx, playlist, row.trackId, row)
    await markQueue(tx, stationId)
    const { past } = held.library
    const left: HeldStation = {
      ...held,
      queue: held.queue.filter(each => each !== row),
      library: {
        ...held.library,
        past: { ...past, refused: [row, ...past.refused] },
        requests: held.library.requests.filter(({ id }) => id !== row.requestId)
      }
    }
    await topUp(tx, [left], nowMs, new Set(row.trackId === null ? [] : [row.trackId]))
    await note(tx)
  })
  await publishEventually(services, stationId)
}

const onItsWay = 'The song is already on its way to the air.'

async function missingRow(tx: Tx, stationId: number, queueId: number): Promise<ApiError> {
  const [row] = await tx`
    select from queue where id = ${queueId} and station_id = ${stationId} and skipped_at_ms is null`
  return row ? new ApiError('conflict', onItsWay) : new ApiError('not-found')
}

/** A track in sequence would come straight back, so it counts as heard in its pass. */
async function passOver(
  tx: Tx,
  { tracks }: Playlist,
  trackId: number,
  { stationId, pass }: LiveRow
): Promise<void> {
  markAired(tracks, indexOf(tracks, trackId), pass, 0)
  await tx`update playlist_tracks set last_pass = greatest(last_pass, ${pass}) where id = ${trackId}`
  await countLibraryChange(tx, stationId)
}

/** Says that what the AutoDJ of a station chooses from is another one, where no trigger of the database does. */
export async function countLibraryChange(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}

/**
 * Takes every row out of the queue, all but what is on its way to the air, and fills it up with other tracks where
 * there are any. Tracks go back to their playlists, requests wait again. Throws 404 for an unknown station.
 */
export async function clearQueue(tx: Tx, stationId: number): Promise<void> {
  const nowMs = engineTimeMs()
  const held = await holdStation(tx, stationId, nowMs, null)
  if (!held) throw new ApiError('not-found')
  const cleared = held.queue.filter(row => !row.isSent)
  if (cleared.length > 0) {
    const ids = cleared.map(({ id }) => id)
    await tx`update requests set state = 'pending' where state = 'queued'
      and id in (select request_id from queue where id = any(${ids}::bigint[]))`
    await tx`delete from queue where id = any(${ids}::bigint[])`
    await markQueue(tx, stationId)
  }
  const rejected = new Set(cleared.flatMap(({ trackId }) => trackId ?? []))
  await topUp(tx, [{ ...held, queue: held.queue.filter(row => row.isSent) }], nowMs, rejected)
}

/** Says that the next song is shown otherwise, where it comes from this playlist. */
export async function markPlaylist(tx: Tx, stationId: number, playlistId: number): Promise<void> {
  await tx`
    update stations set revision = next_revision(revision), queue_revision = next_revision(revision)
    where id = ${stationId} and ${playlistId} = (
      select playlist_id from queue
      where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null and is_visible
      order by position limit 1)`
}

/**
 * Brings the queue of a station in line with its library, as the transaction sees it, fills it up and tells when its rows
 * will play.
 */
export async function refillQueue(tx: Tx, stationId: number): Promise<void> {
  const nowMs = engineTimeMs()
  await topUp(tx, await holdStations(tx, [stationId], nowMs, null), nowMs)
}

/** The same as part of a step that has changed no library. */
export async function refillHeld(
  tx: Tx,
  stationId: number,
  nowMs: number,
  libraries: Libraries
): Promise<void> {
  await topUp(tx, await holdStations(tx, [stationId], nowMs, libraries), nowMs)
}

/** The same for many stations in one transaction, and shows them. */
export async function refillQueues(services: PlayoutServices, stationIds: readonly number[]): Promise<void> {
  const libraries: Libraries = librariesOf(services.sql)
  const nowMs = engineTimeMs()
  const changed = await services.sql.begin(async tx =>
    topUp(tx, await holdStations(tx, stationIds, nowMs, libraries), nowMs)
  )
  if (changed.length > 0) await publishMany(services, changed)
}

/** Plans and writes; gives the stations whose queue changed. */
async function topUp(
  tx: Tx,
  stations: readonly HeldStation[],
  nowMs: number,
  rejected: ReadonlySet<number> = new Set()
): Promise<number[]> {
  const planned = stations
    .filter(({ station }) => station.hasAutodj)
    .map(held => ({ held, stationId: held.station.id, plan: planOf(held, nowMs, rejected) }))
  const changed = planned.filter(({ held, plan }) => !isEmptyPlan(plan) || isMoved(held, plan))
  const stale = stations
    .map(({ station }) => station)
    .filter(each => each.filledVersion !== each.libraryVersion)
  if (stale.length > 0) await markFilled(tx, stale)
  if (changed.length === 0) return []
  const ids = changed.map(({ stationId }) => stationId)
  const inserted = changed.map(({ plan }) => plan.insert.length)
  const cut = changed.filter(({ held, plan }) => isMoved(held, plan))
  await Promise.all([
    ...planStatements(tx, changed),
    tx`update stations s set revision = next_revision(revision), queue_revision = next_revision(revision),
        next_seq = next_seq + x.inserted
      from unnest(${ids}::bigint[], ${inserted}::int[]) as x (id, inserted) where s.id = x.id`,
    ...(cut.length > 0 ? [moveEnds(tx, cut)] : [])
  ])
  return ids
}

function markFilled(tx: Tx, stations: readonly LockedStation[]) {
  return tx`
    update stations s set filled_version = x.version
    from unnest(${stations.map(({ id }) => id)}::bigint[],
      ${stations.map(({ libraryVersion }) => libraryVersion)}::bigint[]) as x (id, version)
    where s.id = x.id`
}

function planOf(
  { station, play, queue, library }: HeldStation,
  nowMs: number,
  rejected: ReadonlySet<number>
): Plan {
  const endsAtMs = Math.max(nowMs, play ? followedAtMs(play, station.overlapMs) : nowMs)
  return refill({
    library,
    running: {
      startedAtMs: play?.startedAtMs ?? nowMs,
      endsAtMs,
      playlistId: play?.playlistId ?? null,
      isInterrupt: play?.isInterrupt ?? false
    },
    nowMs,
    queue,
    queueLength: station.queueLength,
    rejected,
    nextSeq: station.nextSeq
  })
}

/** Whether the clock has to end the play on air at another time: something cuts it, or no longer does. */
function isMoved({ station, play }: HeldStation, plan: Plan): boolean {
  return play !== null && station.isClocked && play.dueAtMs !== null && endOf(play, plan) !== play.dueAtMs
}

/** A play that is over its time already keeps the end that it had. */
function endOf(play: NonNullable<HeldStation['play']>, { runningEndsMs }: Plan): number {
  const naturalMs = naturalEndMs(play)
  return Math.round(runningEndsMs >= naturalMs ? Math.max(naturalMs, play.dueAtMs ?? 0) : runningEndsMs)
}

function moveEnds(tx: Tx, moved: readonly { readonly held: HeldStation; readonly plan: Plan }[]) {
  const ends = moved.flatMap(({ held: { station, play }, plan }) =>
    play ? [{ id: station.id, play: play.id, atMs: endOf(play, plan) }] : []
  )
  return tx`
    with ends as (
      select * from unnest(${ends.map(({ id }) => id)}::bigint[], ${ends.map(each => each.play)}::bigint[],
        ${ends.map(({ atMs }) => atMs)}::bigint[]) as x (station_id, play, at_ms)
    ), moved as (
      update song_history h set due_at_ms = ends.at_ms from ends where h.id = ends.play and h.ended_at_ms is null
    )
    update stations s set playback_revision = s.revision from ends where s.id = ends.station_id`
}
