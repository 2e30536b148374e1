import type { AutodjLibrary } from '../../model/autodj/library.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { raiseLibraryVersion, recordPastPlayChange } from '../../stores/db/library/library.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { readQueueContext, type UnplayedRow } from '../queue-context.ts'
import { endPassStatements } from '../queue/plan-statements.ts'
import { refillQueue } from '../queue/queue.ts'
import type { EngineServices } from '../services.ts'
import type { StationFacts } from '../station-facts.ts'
import { endCurrentBroadcast } from './broadcasts.ts'
import {
  earliestPlacementMs,
  movePlayStart,
  type RecentPlay,
  computePlacement,
  type ReportPlacement,
  readRecentPlays,
  applyPlacement
} from './place-report.ts'
import { startQueueRowStatement } from './plays.ts'
import { reportDeadlineMs, confirmProvisionalPlay } from './provisional-plays.ts'
import { startUnscheduledPlay } from './unscheduled-plays.ts'

/** A song that has started. */
export interface TrackReport {
  /** Its row of the queue; null or an unknown id: it was not queued. */
  readonly queueId: number | null
  readonly mediaId: number | null
  readonly playlistId: number | null
  readonly artist: string
  readonly title: string
  readonly startedAtMs: number
  /** The reporter sent the start time; otherwise it is when the report arrived. */
  readonly isTimed: boolean
}

/**
 * Records a song that a playout, a streamer or a streaming server reports as started. Reports may be
 * repeated, late or out of order. Throws 404 for an unknown station, 400 for a media of another station, 409
 * if the station accepts no reports.
 */
export async function recordTrackReport(services: EngineServices, stationId: number, report: TrackReport) {
  await changeStation(services, stationId, {
    reads: tx => readAround(tx, stationId, report),
    change: async (change, around) => {
      assertAcceptsReports(change.station)
      const startedAtMs = change.momentOf(report.startedAtMs)
      change.happenedAt(startedAtMs)
      if (await record(change, around, { ...report, startedAtMs }))
        await refillQueue(change, { isLibraryChanged: false })
    }
  })
}

/** The plays among which a report is placed, and the row of the queue that it names. */
interface Surroundings {
  readonly near: readonly RecentPlay[]
  readonly row: ReportedRow | undefined
}

async function readAround(tx: Tx, stationId: number, { queueId }: TrackReport): Promise<Surroundings> {
  const [near, row] = await Promise.all([
    readRecentPlays(tx, stationId),
    queueId === null ? undefined : readRow(tx, stationId, queueId)
  ])
  return { near, row }
}

function assertAcceptsReports({ enabledBackend, liveSinceMs }: StationFacts): void {
  if (enabledBackend === null) throw new ApiError('conflict', 'This station is disabled.')
  if (enabledBackend === 'clock' && liveSinceMs === null)
    throw new ApiError('conflict', 'The backend of this station is clock, so reports are not accepted.')
}

/** Returns whether the report changed anything. */
async function record(
  change: StationChange,
  { near, row }: Surroundings,
  given: TrackReport
): Promise<boolean> {
  const { tx, station } = change
  const report = { ...given, startedAtMs: Math.max(given.startedAtMs, earliestPlacementMs(near)) }
  if (row?.historyId) return confirm(change, near, row.historyId, report)
  if (!row && isRepeat(change, report)) return false
  if (!row) await requireNamed(tx, station.id, report)
  const place = computePlacement(
    near,
    row && !report.isTimed ? orderedStart(near, row, report) : report.startedAtMs
  )
  // Evaluated before the change, because cached libraries must not contain what may be rolled back.
  const library = row && (await readQueueContext(change)).library
  await applyPlacement(change, place)
  if (row && place.endedAtMs === null && isLiveOver(station, place))
    await endCurrentBroadcast(change, place.startedAtMs)
  if (row && library) await startRow(change, library, row, place)
  else await startUnscheduledPlay(change, await withStreamer(tx, station, report, place), airtimeOf(place, 0))
  if (row && place.endedAtMs === null && !row.isInterrupt) await returnUnplayed(change, row)
  return true
}

/** A queued song may be reported late this long after a streamer has connected. */
const liveAtLeastMs = 10_000

/** Whether a queued song proves that the broadcast has ended and its end was not reported. */
function isLiveOver({ liveSinceMs }: StationFacts, { startedAtMs }: ReportPlacement): boolean {
  return liveSinceMs !== null && startedAtMs - liveSinceMs > liveAtLeastMs
}

interface ReportedRow extends Pick<
  UnplayedRow,
  'id' | 'seq' | 'position' | 'playlistId' | 'trackId' | 'requestId' | 'pass' | 'durationMs' | 'isInterrupt'
> {
  readonly historyId: number | null
}

async function readRow(tx: Tx, stationId: number, id: number): Promise<ReportedRow | undefined> {
  const [row] = await tx<ReportedRow[]>`
    select id, seq, position, playlist_id as "playlistId", track_id as "trackId", request_id as "requestId", pass,
      duration_ms as "durationMs", is_interrupt as "isInterrupt", history_id as "historyId"
    from queue where id = ${id} and station_id = ${stationId}`
  return row
}

/** Confirms a provisional play; a repeated report changes nothing. */
async function confirm(
  change: StationChange,
  near: readonly RecentPlay[],
  historyId: number,
  { startedAtMs }: TrackReport
): Promise<boolean> {
  const at = near.findIndex(({ id }) => id === historyId)
  const play = near[at]
  if (!play?.isProvisional) return false
  await movePlayStart(change, { play, before: near[at - 1], after: near[at + 1] }, startedAtMs)
  await confirmProvisionalPlay(change.tx, play)
  return true
}

/** Streamers and streaming servers repeat the current title. */
function isRepeat({ play }: StationChange, { artist, title, mediaId }: TrackReport): boolean {
  return mediaId === null && play !== null && play.artist === artist && play.title === title
}

/** A song that was not queued needs a media of the station, an artist or a title. */
async function requireNamed(tx: Tx, stationId: number, { mediaId, artist, title }: TrackReport) {
  if (mediaId === null && artist === '' && title === '') {
    const unknown = "sq_id is not one of the station's rows, and the song is not named otherwise."
    throw ApiError.ofFields([{ field: 'sq_id', code: 'not_found', message: unknown }])
  }
  if (mediaId === null) return
  const [media] = await tx`select from media where id = ${mediaId} and station_id = ${stationId}`
  if (media) return
  const message = "media_id is not one of the station's media."
  throw ApiError.ofFields([{ field: 'media_id', code: 'not_found', message }])
}

/** The start of a row without a reported time: in queue order, even if a later row was reported before it. */
function orderedStart(near: readonly RecentPlay[], row: ReportedRow, { startedAtMs }: TrackReport): number {
  const current = near.at(-1)
  if (!current || current.endedAtMs !== null || row.isInterrupt || current.isInterrupt) return startedAtMs
  if (current.position === null || current.position < row.position) return startedAtMs
  const before = near.at(-2)
  const expectedMs = before ? before.startedAtMs + before.durationMs : current.startedAtMs
  return Math.max(Math.min(expectedMs, current.startedAtMs - 1), before?.startedAtMs ?? 0)
}

const airtimeOf = ({ startedAtMs, endedAtMs }: ReportPlacement, durationMs: number) => ({
  atMs: startedAtMs,
  dueAtMs: endedAtMs === null ? reportDeadlineMs(startedAtMs, durationMs) : null,
  ...(endedAtMs === null ? {} : { endedAtMs })
})

async function startRow(
  change: StationChange,
  library: AutodjLibrary,
  row: ReportedRow,
  place: ReportPlacement
) {
  await startQueueRowStatement(change, row, airtimeOf(place, row.durationMs))
  await Promise.all(endPassStatements(change.tx, library, row))
  // It may be older than the plays that cached libraries keep.
  if (place.endedAtMs !== null) await recordPastPlayChange(change.tx, change.station.id, row.trackId)
}

/** Adds the streamer who was live when the song started. */
async function withStreamer(
  tx: Tx,
  station: StationFacts,
  report: TrackReport,
  { startedAtMs }: ReportPlacement
) {
  const [broadcast] = await tx<{ streamer: string }[]>`
    select b.streamer_name as streamer from broadcasts b
    where b.station_id = ${station.id} and b.started_at_ms <= ${startedAtMs}
      and (b.ended_at_ms is null or b.ended_at_ms > ${startedAtMs})
    order by b.id desc limit 1`
  return { ...report, streamer: broadcast?.streamer ?? '' }
}

/** Returns rows that the playout got before this one and did not play to their playlists. */
async function returnUnplayed({ tx, station, mark }: StationChange, row: ReportedRow): Promise<void> {
  const { count } = await tx`
    with passed as (
      update queue set skipped_at_ms = ${engineTimeMs()}
      where station_id = ${station.id} and is_sent and not is_interrupt and position < ${row.position}
        and played_at_ms is null and skipped_at_ms is null
      returning request_id
    ), waiting as (
      update requests r set state = 'pending' from passed where r.id = passed.request_id and r.state = 'queued'
    )
    select from passed`
  if (count === 0) return
  mark(['queue'])
  await raiseLibraryVersion(tx, station.id)
}
