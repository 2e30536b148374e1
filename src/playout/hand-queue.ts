import { estimate } from '../autodj/estimate.ts'
import type { LogEntry } from '../autodj/pick.ts'
import type { Tx } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { refillQueue, runningOf } from './queue.ts'
import { lockStation, readOpenPlay } from './rows.ts'

/** No queue is longer than this: every step of the engine reads all of it. */
const rowsAtMost = 500

/**
 * Puts songs of the station into its queue, in the order given, a song twice where it is given twice: behind what is
 * on its way to the air and what was put there by hand before, ahead of what the AutoDJ chose. They belong to no
 * playlist, so nothing withdraws them but a person. Gives the ids of the rows. Throws 404 for an unknown station, 400
 * for a queue that would become too long.
 */
export async function addToQueue(tx: Tx, stationId: number, mediaIds: readonly number[]): Promise<number[]> {
  const station = await lockStation(tx, stationId)
  if (!station) throw new ApiError('not-found')
  const nowMs = Date.now()
  const [play, queue, songs] = await Promise.all([
    readOpenPlay(tx, stationId),
    readWaiting(tx, stationId),
    tx<{ id: number; durationMs: number }[]>`
      select m.id, m.duration_ms as "durationMs"
      from unnest(${[...mediaIds]}::bigint[]) with ordinality as wanted (id, place)
      join media m on m.id = wanted.id and m.station_id = ${stationId} order by wanted.place`
  ])
  if (songs.length === 0) return []
  if (queue.length + songs.length > rowsAtMost) refuseLength()
  const firstOfAutodj = queue.findIndex(({ isSent, isByHand }) => !isSent && !isByHand)
  const ahead = firstOfAutodj === -1 ? queue : queue.slice(0, firstOfAutodj)
  const behind = queue.slice(ahead.length)
  const times = estimate(
    runningOf(play, nowMs),
    [...ahead, ...songs].map(({ durationMs }) => durationMs)
  )
  const rows = songs.flatMap(({ id, durationMs }, index) => {
    const timing = times[ahead.length + index]
    if (!timing) return []
    const log: LogEntry[] = [{ step: 'slot', at: Math.floor(timing.playsAtMs / 1000), why: 'manual' }]
    return {
      station_id: stationId,
      seq: station.nextSeq + index,
      media_id: id,
      cued_at_ms: timing.cuedAtMs,
      plays_at_ms: timing.playsAtMs,
      duration_ms: durationMs,
      log: tx.json(log)
    }
  })
  const inserted = await tx<{ id: number }[]>`insert into queue ${tx(rows)} returning id`
  // Slots are never used again: what moves back gets new ones.
  await tx`
    update queue q set seq = ${station.nextSeq + rows.length - 1} + x.place
    from unnest(${behind.map(({ id }) => id)}::bigint[]) with ordinality as x (id, place) where q.id = x.id`
  await tx`
    update stations set next_seq = next_seq + ${rows.length + behind.length}, revision = revision + 1,
      queue_revision = revision + 1
    where id = ${stationId}`
  await refillQueue(tx, stationId)
  return inserted.map(({ id }) => id)
}

interface Waiting {
  readonly id: number
  readonly durationMs: number
  readonly isSent: boolean
  readonly isByHand: boolean
}

/** The rows that are still to be played, in order. */
function readWaiting(tx: Tx, stationId: number): Promise<Waiting[]> {
  return tx<Waiting[]>`
    select id, duration_ms as "durationMs", is_sent as "isSent", playlist_id is null as "isByHand" from queue
    where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null order by seq`
}

function refuseLength(): never {
  const message = `The queue may have at most ${rowsAtMost} songs.`
  throw ApiError.ofFields([{ field: '', code: 'limit_reached', message }])
}
