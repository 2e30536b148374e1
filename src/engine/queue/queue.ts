import type { Playlist } from '../../model/autodj/library.ts'
import { planQueueInSteps, type QueuePlan } from '../../model/autodj/queue-planner.ts'
import { findTrackIndex, markTrackAired } from '../../model/autodj/track-columns.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { openEventLoopYield } from '../../platform/runtime/time-slices.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { rereadQueueContext, type QueueContext, type UnplayedRow } from '../queue-context.ts'
import type { EngineServices } from '../services.ts'
import { nextPlayAtMs, naturalEndMs } from '../station-facts.ts'
import { endPassStatements, isEmptyPlan, planStatements } from './plan-statements.ts'

/**
 * Removes an unplayed row, returns its track to the playlist (but not to the same slot) and fills the queue.
 * The rules count it as played; a request is cancelled. Throws 404 for a row that is not in the queue, 409
 * for one that has been sent to the playout.
 */
export async function removeFromQueue(change: StationChange, queueId: number, nowMs: number): Promise<void> {
  const { tx, station } = change
  const context = await rereadQueueContext(change, nowMs, { isLibraryChanged: true })
  const row = context.queue.find(({ id }) => id === queueId)
  if (!row) throw await missingRow(tx, station.id, queueId)
  if (row.isSent) throw new ApiError('conflict', alreadySent)
  change.mark(['queue'])
  await tx`update queue set skipped_at_ms = ${nowMs} where id = ${queueId}`
  if (row.requestId !== null)
    await tx`update requests set state = 'cancelled', ended_at_ms = ${nowMs} where id = ${row.requestId}`
  const playlist = context.library.playlists.find(({ id }) => id === row.playlistId)
  if (playlist?.order === 'sequential' && row.trackId !== null)
    await markPassed(tx, playlist, row.trackId, row)
  const { past } = context.library
  const left: QueueContext = {
    ...context,
    queue: context.queue.filter(each => each !== row),
    library: {
      ...context.library,
      past: { ...past, removed: [row, ...past.removed] },
      requests: context.library.requests.filter(({ id }) => id !== row.requestId)
    }
  }
  await fill(change, left, nowMs, new Set(row.trackId === null ? [] : [row.trackId]))
}

const alreadySent = 'The song has already been sent to the playout.'

async function missingRow(tx: Tx, stationId: number, queueId: number): Promise<ApiError> {
  const [row] = await tx`
    select from queue where id = ${queueId} and station_id = ${stationId} and skipped_at_ms is null`
  return row ? new ApiError('conflict', alreadySent) : new ApiError('not-found')
}

/** A track of a sequential playlist would be queued again at once, so it counts as played in its pass. */
async function markPassed(tx: Tx, { tracks }: Playlist, trackId: number, { pass }: UnplayedRow) {
  markTrackAired(tracks, findTrackIndex(tracks, trackId), pass, 0)
  await tx`update playlist_tracks set last_pass = greatest(last_pass, ${pass}) where id = ${trackId}`
}

/** Removes every row that was not sent, and fills the queue with other tracks if there are any. */
export async function clearQueue(change: StationChange): Promise<void> {
  const { tx } = change
  const nowMs = engineTimeMs()
  const context = await rereadQueueContext(change, nowMs, { isLibraryChanged: true })
  const cleared = context.queue.filter(row => !row.isSent)
  if (cleared.length > 0) {
    const ids = cleared.map(({ id }) => id)
    await tx`update requests set state = 'pending' where state = 'queued'
      and id in (select request_id from queue where id = any(${ids}::bigint[]))`
    await tx`delete from queue where id = any(${ids}::bigint[])`
    change.mark(['queue'])
  }
  const rejected = new Set(cleared.flatMap(({ trackId }) => trackId ?? []))
  await fill(change, { ...context, queue: context.queue.filter(row => row.isSent) }, nowMs, rejected)
}

/** Marks the queue if the next song comes from this playlist, because it is shown with its name. */
export async function markIfNextPlaylist(
  { tx, station, mark }: StationChange,
  playlistId: number
): Promise<void> {
  const [next] = await tx<{ playlistId: number | null }[]>`
    select playlist_id as "playlistId" from queue
    where station_id = ${station.id} and played_at_ms is null and skipped_at_ms is null and is_visible
    order by position limit 1`
  if (next?.playlistId === playlistId) mark(['queue'])
}

/** Removes queued songs that are no longer eligible, fills the queue and updates the expected start times. */
export async function refillQueue(
  change: StationChange,
  { isLibraryChanged = true }: { readonly isLibraryChanged?: boolean } = {}
): Promise<void> {
  const nowMs = engineTimeMs()
  await fill(change, await rereadQueueContext(change, nowMs, { isLibraryChanged }), nowMs)
}

/** Refills the queue of a station whose library has changed, and publishes it. */
export async function refillStationQueue(services: EngineServices, stationId: number): Promise<void> {
  try {
    await changeStation(services, stationId, change => refillQueue(change))
  } catch (error) {
    services.log.warn({ err: error, station: stationId }, 'queue not refilled; retrying')
  }
}

/** Plans the queue and writes the plan. */
async function fill(
  change: StationChange,
  context: QueueContext,
  nowMs: number,
  rejected: ReadonlySet<number> = new Set()
): Promise<void> {
  const { tx, mark } = change
  const { station, play, autodj, library } = context
  if (autodj.filledVersion !== autodj.libraryVersion) {
    mark([], { filled_version: autodj.libraryVersion })
    // Its first song may have started without the library.
    const current = library.past.plays.at(-1)
    if (current) change.send(endPassStatements(tx, library, current))
  }
  if (!autodj.hasAutodj) return
  const plan = await planOf(context, nowMs, rejected)
  // The sweep starts it.
  if (!play && station.enabledBackend === 'clock' && context.queue.length + plan.insert.length > 0)
    mark([], { wake_at_ms: nowMs })
  const dueAtMs = movedEnd(context, plan)
  if (isEmptyPlan(plan) && dueAtMs === null) return
  mark(['queue'])
  if (dueAtMs !== null) mark(['playback'])
  change.send([
    ...planStatements(tx, [{ stationId: station.id, plan }]),
    // Not at the end of the change: another plan of the same change reads it.
    ...(plan.insert.length > 0
      ? [tx`update stations set next_seq = next_seq + ${plan.insert.length} where id = ${station.id}`]
      : []),
    ...(dueAtMs !== null && play
      ? [tx`update song_history set due_at_ms = ${dueAtMs} where id = ${play.id}`]
      : [])
  ])
}

const sliceMs = 8

/** Plans the queue in time slices. */
async function planOf(
  { autodj, play, queue, library }: QueueContext,
  nowMs: number,
  rejected: ReadonlySet<number>
): Promise<QueuePlan> {
  const endsAtMs = Math.max(nowMs, play ? nextPlayAtMs(play, autodj.overlapMs) : nowMs)
  const steps = planQueueInSteps({
    library,
    running: {
      startedAtMs: play?.startedAtMs ?? nowMs,
      endsAtMs,
      playlistId: play?.playlistId ?? null,
      isInterrupt: play?.isInterrupt ?? false
    },
    nowMs,
    queue,
    queueLength: autodj.queueLength,
    rejected,
    nextSeq: autodj.nextSeq
  })
  const pause = openEventLoopYield(sliceMs)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

/** The new end of the current play if an interrupt now cuts it or no longer does; null if it is unchanged. */
function movedEnd({ station, play }: QueueContext, { runningEndsMs }: QueuePlan): number | null {
  if (play === null || station.enabledBackend !== 'clock' || play.dueAtMs === null) return null
  const naturalMs = naturalEndMs(play)
  // A play that exceeds its time keeps the end that it had.
  const endMs = runningEndsMs >= naturalMs ? Math.max(naturalMs, play.dueAtMs) : runningEndsMs
  return Math.round(endMs) === play.dueAtMs ? null : Math.round(endMs)
}
