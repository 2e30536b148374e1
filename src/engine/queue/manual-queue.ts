import type { DecisionLogEntry } from '../../model/autodj/log-entry.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { onAirMsFragment } from '../../stores/db/library/cue-columns.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import { readQueueRows } from '../queue-context.ts'
import { refillQueue } from './queue.ts'

/** Maximum length: every advance reads the whole queue. */
const rowsAtMost = 500

/** A song for the queue; `requestId` is the request that it plays, which was taken before. */
export interface SongToQueue {
  readonly mediaId: number
  readonly requestId: number | null
}

/** Songs that nobody has requested. */
export const toUnrequestedSongs = (mediaIds: readonly number[]): SongToQueue[] =>
  mediaIds.map(mediaId => ({ mediaId, requestId: null }))

/**
 * Adds songs to the queue in the given order: at a place (1 is the first that was not sent), else behind rows
 * that were added manually before. Returns the ids of the rows. Throws 400 if the queue would become too
 * long.
 */
export async function addSongsToQueue(
  change: StationChange,
  added: readonly SongToQueue[],
  place: number | null = null
): Promise<number[]> {
  const { tx, station } = change
  const stationId = station.id
  const [queue, [numbers], songs] = await Promise.all([
    readQueueRows(tx, [stationId]),
    tx<{ nextSeq: number }[]>`select next_seq as "nextSeq" from stations where id = ${stationId}`,
    tx<{ id: number; requestId: number | null; durationMs: number }[]>`
      select m.id, wanted.request_id as "requestId", ${onAirMsFragment(tx)} as "durationMs"
      from unnest(${added.map(each => each.mediaId)}::bigint[], ${added.map(each => each.requestId)}::bigint[])
        with ordinality as wanted (id, request_id, place)
      join media m on m.id = wanted.id and m.station_id = ${stationId} order by wanted.place`
  ])
  if (songs.length === 0 || !numbers) return []
  const { nextSeq } = numbers
  if (queue.length + songs.length > rowsAtMost) {
    const message = `The queue may have at most ${rowsAtMost} songs.`
    throw ApiError.ofFields([{ field: '', code: 'limit_reached', message }])
  }
  const nowMs = engineTimeMs()
  const rows = songs.map(({ id, requestId, durationMs }, index) => ({
    station_id: stationId,
    seq: nextSeq + index,
    position: 0,
    media_id: id,
    request_id: requestId,
    is_request: requestId !== null,
    is_manual: true,
    // The refill that follows sets their start times.
    cued_at_ms: nowMs,
    plays_at_ms: nowMs,
    duration_ms: durationMs
  }))
  const inserted = await tx<{ id: number; seq: number }[]>`insert into queue ${tx(rows)} returning id, seq`
  const ids = inserted.toSorted((a, b) => a.seq - b.seq).map(({ id }) => id)
  const sent = queue.filter(row => row.isSent).length
  const firstOfAutodj = queue.findIndex(row => !row.isSent && !row.isManual)
  const behindHand = firstOfAutodj === -1 ? queue.length : firstOfAutodj
  const index = place === null ? behindHand : Math.min(sent + place - 1, queue.length)
  const order = queue.map(({ id }) => id).toSpliced(index, 0, ...ids)
  await writeOrder(tx, order, Math.min(nextSeq, ...queue.map(({ position }) => position)))
  await tx`update stations set next_seq = next_seq + ${rows.length} where id = ${stationId}`
  change.mark(['queue'])
  await refillQueue(change)
  await tx`
    update queue set log = jsonb_build_array(
      jsonb_build_object('step', 'slot', 'at', plays_at_ms / 1000, 'why', 'manual'))
      || case when request_id is null then '[]'
        else jsonb_build_array(jsonb_build_object('step', 'picked', 'request', request_id)) end
    where id = any(${ids}::bigint[])`
  return ids
}

/**
 * Moves a row to a place (1 is the first that was not sent; beyond the end is the end), where it stays.
 * Throws 404 for a row that is not in the queue, 409 for one that was sent to the playout.
 */
export async function moveQueueRow(change: StationChange, queueId: number, place: number): Promise<void> {
  const { tx, station } = change
  const queue = await readQueueRows(tx, [station.id])
  const row = queue.find(({ id }) => id === queueId)
  if (!row) throw new ApiError('not-found')
  if (row.isSent) throw new ApiError('conflict', 'The song has already been sent to the playout.')
  const sent = queue.filter(each => each.isSent).length
  const others = queue.filter(each => each !== row).map(({ id }) => id)
  const order = others.toSpliced(Math.min(sent + place - 1, others.length), 0, row.id)
  const log: DecisionLogEntry = {
    step: 'moved_by_hand',
    from: queue.indexOf(row) + 1 - sent,
    to: order.indexOf(row.id) + 1 - sent
  }
  await tx`
    update queue set is_manual = true, is_interrupt = false, batch = null, log = log || ${tx.json([{ ...log }])}
    where id = ${row.id}`
  await writeOrder(tx, order, Math.min(...queue.map(({ position }) => position)))
  change.mark(['queue'])
  await refillQueue(change)
}

async function writeOrder(tx: Tx, ids: readonly number[], first: number): Promise<void> {
  await tx`
    update queue q set position = ${first - 1} + x.place
    from unnest(${[...ids]}::bigint[]) with ordinality as x (id, place) where q.id = x.id`
}
