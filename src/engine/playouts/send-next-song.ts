import type { CuePoints } from '../../model/songs/cue-points.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { cueCacheKeyFragment, cuesFragment } from '../../stores/db/library/cue-columns.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import { readQueueRows, type UnplayedRow } from '../queue-context.ts'
import { refillQueue } from '../queue/queue.ts'
import type { EngineServices } from '../services.ts'
import { recordPlayoutCall, recordStoppedPlay } from './commands.ts'

/** A song for a playout. */
export interface PlayoutSong {
  readonly queueId: number
  readonly mediaId: number
  readonly playlistId: number | null
  readonly requestId: number | null
  readonly songId: string
  readonly artist: string
  readonly title: string
  /** On air. */
  readonly durationMs: number
  /** The length of the file; 0: unknown. */
  readonly fileMs: number
  readonly cues: CuePoints
  /** Set if the playout computes the cue points of songs that have none. */
  readonly autocue: AutocueOptions | null
  readonly isJingle: boolean
  /** A file of the library, or an address. */
  readonly path: string
  /** Seconds to load ahead, for a stream without an end, which is played for its duration. */
  readonly stream: { readonly bufferSeconds: number } | null
}

export interface AutocueOptions {
  /** Names the media and its file version when the playout stores what it has computed. */
  readonly cacheKey: string
  /** The length of fades that are not known. */
  readonly fadeMs: number
}

/** More songs in a row that may not be played are left to the next request. */
const attempts = 5

/**
 * Sends the next song to a playout, which then plays it in any case. Songs in which `findProblem` finds a problem are
 * taken from the queue instead. Null if the queue is empty. Throws 404 for an unknown station, 409 if its backend is
 * not liquidsoap or it is disabled.
 */
export async function sendNextSong(
  services: EngineServices,
  stationId: number,
  lastId: number | null,
  findProblem: SongGuard
): Promise<PlayoutSong | null> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const song = await dequeueNextSong(services, stationId, lastId)
    const problem = song && (await findProblem(song.path))
    if (!song || !problem) return song
    await withdrawSong(services, stationId, song, problem)
  }
  return null
}

/** Why a playout must not get a song, by its path or address: a sentence that follows "its address"; null: it may. */
export type SongGuard = (path: string) => Promise<SongProblem | null>

interface SongProblem {
  readonly sentence: string
}

/** Takes a song from the queue that was sent to nobody, and logs why. */
export async function withdrawSong(
  services: EngineServices,
  stationId: number,
  { queueId, mediaId, requestId }: PlayoutSong,
  { sentence }: SongProblem
): Promise<void> {
  services.log.warn({ station: stationId, media: mediaId }, `song left out: its address ${sentence}`)
  const nowMs = engineTimeMs()
  await changeStation(services, stationId, async change => {
    const { tx, mark } = change
    mark(['queue'])
    await tx`update queue set skipped_at_ms = ${nowMs} where id = ${queueId} and played_at_ms is null`
    if (requestId !== null)
      await tx`update requests set state = 'cancelled', ended_at_ms = ${nowMs} where id = ${requestId}`
    await refillQueue(change)
  })
}

async function dequeueNextSong(services: EngineServices, stationId: number, lastId: number | null) {
  const nowMs = engineTimeMs()
  const take = async (change: StationChange) => {
    const { tx, station } = change
    if (station.enabledBackend === null) throw new ApiError('conflict', 'This station is disabled.')
    if (station.enabledBackend !== 'liquidsoap')
      throw new ApiError('conflict', 'The backend of this station is not liquidsoap.')
    await recordPlayoutCall(tx, stationId, nowMs)
    if (lastId === 0) await recordStoppedPlay(tx, stationId)
    // Queued rows may no longer be eligible.
    await refillQueue(change, { isLibraryChanged: false })
    const row = chooseRowToSend(await readQueueRows(tx, [stationId]), lastId, nowMs)
    if (!row) return null
    if (!row.isSent) await markRowSent(change, row.id, nowMs)
    return readQueuedSong(tx, row.id)
  }
  return changeStation(services, stationId, take, { isPublishedLater: true })
}

/** Marks a row of the queue as sent to the playout. */
export async function markRowSent(
  { tx, mark }: StationChange,
  queueId: number,
  nowMs: number
): Promise<void> {
  mark(['queue'])
  await tx`update queue set is_sent = true, cued_at_ms = ${nowMs} where id = ${queueId}`
}

/** The song of a row of the queue. */
export async function readQueuedSong(tx: Tx | Sql, queueId: number): Promise<PlayoutSong | null> {
  const [song] = await tx<PlayoutSong[]>`
    select q.id as "queueId", m.id as "mediaId", q.playlist_id as "playlistId", q.request_id as "requestId",
      m.song_id as "songId", m.artist, m.title, q.duration_ms as "durationMs",
      case when m.duration_ms = 0 and m.cue_out_ms is null then q.duration_ms else m.duration_ms end as "fileMs",
      ${cuesFragment(tx)} as cues,
      case when s.enable_auto_cue and m.remote_playlist_id is null then jsonb_build_object('cacheKey', ${cueCacheKeyFragment(tx)},
        'fadeMs', case s.crossfade_type when 'none' then 0 else round((s.crossfade * 1000)::numeric) end) end as autocue,
      not q.is_visible as "isJingle",
      coalesce(nullif(q.autodj_custom_uri, ''), m.path) as path,
      case when p.source = 'remote_url' and p.remote_type <> 'playlist'
        then jsonb_build_object('bufferSeconds', p.remote_buffer) end as stream
    from queue q join media m on m.id = q.media_id join stations s on s.id = q.station_id
      left join playlists p on p.id = q.playlist_id
    where q.id = ${queueId}`
  return song ?? null
}

/** A row of the queue that is still to be played. */
export type SendableRow = Pick<UnplayedRow, 'id' | 'isSent' | 'isInterrupt' | 'cuedAtMs' | 'startsAtMs'>

/** A playout loads a song this long before it begins. */
const aheadMs = 20_000

/** A playout holds two songs: the next one and one after it. */
const aheadAtMost = 2

/** A repeated request gets the same song after this pause: the first response may have been lost. */
const repeatAfterMs = 5_000

/**
 * Returns the row that a playout gets, or null. `queue` is in playing order, sent rows first. `lastId`: the
 * row that it got last; 0: it has just started; null: unknown. A repeated request gets the same row, so a
 * lost response loses no song. Interrupting songs are sent by command.
 */
export function chooseRowToSend<Row extends SendableRow>(
  queue: readonly Row[],
  lastId: number | null,
  nowMs: number
): Row | null {
  const rows = queue.filter(row => !row.isInterrupt)
  const at = rows.findIndex(row => row.id === lastId)
  if (lastId !== null) return rows[at + 1] ?? null
  const sent = rows.filter(row => row.isSent)
  const newest = sent.at(-1)
  const isLost =
    newest !== undefined && nowMs - newest.cuedAtMs > repeatAfterMs && newest.startsAtMs - nowMs > aheadMs
  return (isLost || sent.length >= aheadAtMost ? newest : rows.find(row => !row.isSent)) ?? null
}
