import type { QueuePlan } from '../../autodj/queue-planner.ts'
import type { Tx } from '../../db/sql.ts'

/** The statements that write the plan of a station, in this order. */
export function statementsOfPlan(tx: Tx, stationId: number, { withdraw, insert, move }: QueuePlan) {
  const rows = insert.map(row => insertedRow(tx, stationId, row))
  const queued = insert.flatMap(row => row.requestId ?? [])
  return [
    // A request whose row is removed from the queue becomes pending again.
    ...(withdraw.length > 0
      ? [
          tx`update requests r set state = 'pending' from queue q
            where q.id = any(${withdraw}::bigint[]) and r.id = q.request_id and r.state = 'queued'`,
          tx`delete from queue where id = any(${withdraw}::bigint[])`
        ]
      : []),
    ...(rows.length > 0 ? [tx`insert into queue ${tx(rows)} on conflict (station_id, seq) do nothing`] : []),
    ...(queued.length > 0
      ? [tx`update requests set state = 'queued' where id = any(${queued}::bigint[]) and state = 'pending'`]
      : []),
    ...(move.length > 0 ? [moveStatement(tx, move)] : [])
  ]
}

function insertedRow(tx: Tx, stationId: number, row: QueuePlan['insert'][number]) {
  return {
    station_id: stationId,
    seq: row.seq,
    position: row.position,
    playlist_id: row.playlistId,
    track_id: row.trackId,
    media_id: row.mediaId,
    pass: row.pass,
    request_id: row.requestId,
    is_request: row.requestId !== null,
    occurrence_ms: row.occurrenceMs,
    batch: row.batch,
    is_interrupt: row.isInterrupt,
    is_visible: row.isVisible,
    cued_at_ms: Math.round(row.cuedAtMs),
    plays_at_ms: Math.round(row.startsAtMs),
    duration_ms: Math.round(row.durationMs),
    autodj_custom_uri: row.uri,
    log: tx.json(row.log.map(entry => ({ ...entry })))
  }
}

const logBytesAtMost = 8_000

function moveStatement(tx: Tx, moved: QueuePlan['move']) {
  const logs = moved.map(({ log }) => JSON.stringify(log))
  return tx`
    update queue q set position = x.position, cued_at_ms = x.cued, plays_at_ms = x.plays, duration_ms = x.duration,
      log = case when length(q.log::text) < ${logBytesAtMost} and jsonb_array_length(q.log) < 60
        then q.log || x.log::jsonb else q.log end
    from unnest(${moved.map(({ id }) => id)}::bigint[], ${moved.map(({ position }) => position)}::bigint[],
      ${moved.map(({ cuedAtMs }) => Math.round(cuedAtMs))}::bigint[],
      ${moved.map(({ startsAtMs }) => Math.round(startsAtMs))}::bigint[],
      ${moved.map(({ durationMs }) => Math.round(durationMs))}::int[], ${logs}::text[])
      as x (id, position, cued, plays, duration, log)
    where q.id = x.id`
}

export const isEmptyPlan = ({ insert, move, withdraw }: QueuePlan) =>
  insert.length + move.length + withdraw.length === 0
