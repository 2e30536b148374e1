import { completeCuePoints, type CuePoints } from '../../model/songs/cue-points.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import {
  cueCacheKeyFragment,
  cuesFragment,
  toCueColumns,
  onAirMsFragment
} from '../../stores/db/library/cue-columns.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import { refillQueue } from './queue.ts'

/** Marks the parts that show a media. A media that is not shown is not published. */
export async function markPartsShowingMedia(
  { tx, station, mark }: StationChange,
  mediaId: number
): Promise<void> {
  const { id: stationId } = station
  const [shown] = await tx<{ isPlayed: boolean; isNext: boolean }[]>`
    select
      exists (
        select from (
          select media_id from song_history
          where station_id between ${stationId} and ${stationId} and is_visible order by station_id desc, id desc
          limit (select history_length + 1 from stations where id = ${stationId})
        ) h where h.media_id = ${mediaId}) as "isPlayed",
      coalesce((
        select media_id from queue
        where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null and is_visible
        order by position limit 1) = ${mediaId}, false) as "isNext"`
  if (shown?.isPlayed) mark(['playback'])
  if (shown?.isNext) mark(['queue'])
}

/** Copies the text of a media to the current play; ended plays keep their text. */
export async function updateCurrentPlayTexts(tx: Tx, stationId: number, mediaId: number): Promise<void> {
  await tx`
    update song_history h set song_id = m.song_id, artist = m.artist, title = m.title, album = m.album,
      genre = m.genre, isrc = m.isrc, title_key = m.title_key, artist_keys = m.artist_keys
    from media m
    where h.station_id = ${stationId} and h.ended_at_ms is null and h.media_id = m.id and m.id = ${mediaId}`
}

/** Copies the length of a media on air to its queued rows; to those that were sent to the playout if `isSent`. */
export async function updateQueuedDurations(
  tx: Tx,
  stationId: number,
  mediaId: number,
  { isSent = false } = {}
): Promise<void> {
  await tx`
    update queue q set duration_ms = ${onAirMsFragment(tx)} from media m
    where q.station_id = ${stationId} and q.media_id = m.id and m.id = ${mediaId}
      and q.played_at_ms is null and q.skipped_at_ms is null and (${isSent} or not q.is_sent)`
}

/** Removes the rows that playlists queued of a media, except those that were sent to the playout. */
export async function removeQueuedMedia(
  { tx, station, mark }: StationChange,
  mediaId: number,
  playlistIds: readonly number[]
): Promise<void> {
  const { count } = await tx`
    delete from queue
    where station_id = ${station.id} and media_id = ${mediaId} and playlist_id = any(${[...playlistIds]}::bigint[])
      and played_at_ms is null and skipped_at_ms is null and not is_sent`
  if (count > 0) mark(['queue'])
}

/**
 * Stores cue points that the playout measured of a media, where none are known, and applies them to its queued
 * rows. Throws 404 if no media has the cache key: it was deleted, or its file was replaced.
 */
export async function applyMeasuredCues(
  change: StationChange,
  cacheKey: string,
  measured: CuePoints
): Promise<void> {
  const { tx, station } = change
  const [media] = await tx<{ id: number; durationMs: number; cues: CuePoints }[]>`
    select m.id, m.duration_ms as "durationMs", ${cuesFragment(tx)} as cues from media m
    where m.station_id = ${station.id} and m.unique_id = ${cacheKey.replace(/-\d+$/, '')}
      and m.remote_playlist_id is null and ${cueCacheKeyFragment(tx)} = ${cacheKey}
    for no key update`
  if (!media) throw new ApiError('not-found', 'No song of the station has this cache key.')
  const cues = completeCuePoints(media.cues, measured, media.durationMs)
  if (cues === media.cues) return
  await tx`update media set ${tx(toCueColumns(cues))} where id = ${media.id}`
  // The playout also plays those rows by these cue points that it has already loaded.
  await updateQueuedDurations(tx, station.id, media.id, { isSent: true })
  await markPartsShowingMedia(change, media.id)
  await refillQueue(change)
}
