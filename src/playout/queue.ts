import type { Running } from '../autodj/estimate.ts'
import type { Library } from '../autodj/library.ts'
import { refill, type Plan } from '../autodj/refill.ts'
import { readLibrary } from '../db/library.ts'
import type { Tx } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { publishEventually } from './publish.ts'
import {
  type LiveRow,
  type LockedStation,
  lockStation,
  type OpenPlay,
  readOpenPlay,
  readQueue
} from './rows.ts'
import type { PlayoutServices } from './services.ts'

/** The statements that write what a plan adds and moves, to be sent in this order. */
export function planStatements(tx: Tx, stationId: number, plan: Plan) {
  const rows = plan.insert.map(({ playlist, track, seq, cuedAtMs, playsAtMs, log }) => ({
    station_id: stationId,
    seq,
    playlist_id: playlist.id,
    track_id: track.trackId,
    media_id: track.mediaId,
    pass: track.pass,
    is_visible: !playlist.isJingle,
    cued_at_ms: cuedAtMs,
    plays_at_ms: playsAtMs,
    duration_ms: track.durationMs,
    log: tx.json(log)
  }))
  const { retime } = plan
  return [
    ...(rows.length > 0 ? [tx`insert into queue ${tx(rows)} on conflict (station_id, seq) do nothing`] : []),
    ...(retime.length > 0
      ? [
          tx`update queue q set cued_at_ms = x.cued, plays_at_ms = x.plays
            from unnest(${retime.map(row => row.id)}::bigint[], ${retime.map(row => row.cuedAtMs)}::bigint[],
              ${retime.map(row => row.playsAtMs)}::bigint[]) as x(id, cued, plays)
            where q.id = x.id`
        ]
      : [])
  ]
}

/**
 * Takes an unplayed row out of the queue, gives its track back to the playlist (though not to the slot it leaves)
 * and fills the queue up; `note` is part of it. Throws 404 for a row that is not in the station's queue, 409 for one that is on its way.
 */
export async function removeFromQueue(
  services: PlayoutServices,
  stationId: number,
  queueId: number,
  nowMs: number,
  note: (tx: Tx) => Promise<void> = async () => {}
): Promise<void> {
  await services.sql.begin(async tx => {
    const [station, play, queue, [row]] = await Promise.all([
      lockStation(tx, stationId),
      readOpenPlay(tx, stationId),
      readQueue(tx, stationId),
      tx<{ trackId: number | null; isSent: boolean; isPlayed: boolean }[]>`
        select track_id as "trackId", is_sent as "isSent", played_at_ms is not null as "isPlayed"
        from queue where id = ${queueId} and station_id = ${stationId} and skipped_at_ms is null`
    ])
    if (!station || !row) throw new ApiError('not-found')
    if (row.isSent || row.isPlayed)
      throw new ApiError('conflict', 'The song is already on its way to the air.')
    await tx`update queue set skipped_at_ms = ${nowMs} where id = ${queueId}`
    await markQueue(tx, stationId)
    const left = queue.filter(({ id }) => id !== queueId)
    const rejected = new Set(row.trackId === null ? [] : [row.trackId])
    await topUp(tx, station, play, left, rejected, nowMs)
    await note(tx)
  })
  await publishEventually(services, stationId)
}

/**
 * Takes a playlist's rows out of the queue, all but what is on its way to the air. The queue is filled up again by
 * `refillQueue`, once the playlist may no longer be picked.
 */
export async function withdrawPlaylist(tx: Tx, stationId: number, playlistId: number): Promise<void> {
  const { count } = await tx`update queue set skipped_at_ms = ${Date.now()}
    where station_id = ${stationId} and playlist_id = ${playlistId}
      and played_at_ms is null and skipped_at_ms is null and not is_sent`
  if (count > 0) await markQueue(tx, stationId)
}

/**
 * Takes every row out of the queue, all but what is on its way to the air, and fills it up with other tracks where
 * there are any. Throws 404 for an unknown station.
 */
export async function clearQueue(tx: Tx, stationId: number): Promise<void> {
  const station = await lockStation(tx, stationId)
  if (!station) throw new ApiError('not-found')
  const nowMs = Date.now()
  const cleared = await tx<{ id: number; trackId: number | null }[]>`
    update queue set skipped_at_ms = ${nowMs}
    where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null and not is_sent
    returning id, track_id as "trackId"`
  if (cleared.length > 0) await markQueue(tx, stationId)
  const rejected = new Set(cleared.flatMap(({ trackId }) => (trackId === null ? [] : [trackId])))
  const play = await readOpenPlay(tx, stationId)
  await topUp(tx, station, play, await readQueue(tx, stationId), rejected, nowMs)
}

/** Says that the next song is shown otherwise, where it comes from this playlist. */
export async function markPlaylist(tx: Tx, stationId: number, playlistId: number): Promise<void> {
  await tx`
    update stations set revision = revision + 1, queue_revision = revision + 1
    where id = ${stationId} and ${playlistId} = (
      select playlist_id from queue
      where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null and is_visible
      order by seq limit 1)`
}

/** Fills the queue of a station up and tells when its rows will play. */
export async function refillQueue(tx: Tx, stationId: number): Promise<void> {
  const station = await lockStation(tx, stationId)
  if (!station) return
  const play = await readOpenPlay(tx, stationId)
  await topUp(tx, station, play, await readQueue(tx, stationId), new Set(), Date.now())
}

/** Says that the queue is another one, so that the next publication shows it. */
export function markQueue(tx: Tx, stationId: number) {
  return tx`update stations set revision = revision + 1, queue_revision = revision + 1 where id = ${stationId}`
}

/** What holds the air before the first row of the queue. */
export function runningOf(play: OpenPlay | null, nowMs: number): Running {
  return { startedAtMs: play?.startedAtMs ?? nowMs, endsAtMs: Math.max(nowMs, play?.dueAtMs ?? nowMs) }
}

async function topUp(
  tx: Tx,
  station: LockedStation,
  play: OpenPlay | null,
  queue: readonly LiveRow[],
  rejected: ReadonlySet<number>,
  nowMs: number
): Promise<void> {
  const library: Library = station.isClocked ? await readLibrary(tx, station.id) : []
  const plan = refill({
    library,
    running: runningOf(play, nowMs),
    songOnAir: play?.songId ?? null,
    queue,
    queueLength: station.queueLength,
    rejected,
    seed: station.randomSeed,
    nextSeq: station.nextSeq
  })
  if (plan.insert.length + plan.retime.length === 0) return
  await Promise.all([
    ...planStatements(tx, station.id, plan),
    tx`update stations set revision = revision + 1, queue_revision = revision + 1,
      next_seq = next_seq + ${plan.insert.length} where id = ${station.id}`
  ])
}
