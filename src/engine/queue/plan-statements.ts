import { trackCountsInPass, type AutodjLibrary } from '../../model/autodj/library.ts'
import type { QueuePlan } from '../../model/autodj/queue-planner.ts'
import type { Tx } from '../../stores/db/sql.ts'

/** A plan of a station's queue. */
export interface StationPlan {
  readonly stationId: number
  readonly plan: QueuePlan
}

/** The statements that write the plans of stations, in this order. */
export function planStatements(tx: Tx, plans: readonly StationPlan[]) {
  const withdrawn = plans.flatMap(({ plan }) => plan.withdraw)
  const rows = plans.flatMap(({ stationId, plan }) => plan.insert.map(row => insertedRow(stationId, row)))
  const queued = plans.flatMap(({ plan }) => plan.insert.flatMap(row => row.requestId ?? []))
  const moved = plans.flatMap(({ plan }) => plan.move)
  return [
    // A request whose row is removed from the queue becomes pending again.
    ...(withdrawn.length > 0
      ? [
          tx`update requests r set state = 'pending' from queue q
            where q.id = any(${withdrawn}::bigint[]) and r.id = q.request_id and r.state = 'queued'`,
          tx`delete from queue where id = any(${withdrawn}::bigint[])`
        ]
      : []),
    ...(rows.length > 0 ? [insertStatement(tx, rows)] : []),
    ...(queued.length > 0 ? [takeRequestsStatement(tx, queued)] : []),
    ...(moved.length > 0 ? [moveStatement(tx, moved)] : [])
  ]
}

/** The statement that takes pending requests for rows of the queue, and returns those that it took. */
export const takeRequestsStatement = (tx: Tx, ids: readonly number[]) => tx`
  update requests set state = 'queued' where id = any(${[...ids]}::bigint[]) and state = 'pending' returning id`

function insertedRow(stationId: number, row: QueuePlan['insert'][number]) {
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
    log: row.log.map(entry => ({ ...entry }))
  }
}

/** One JSON parameter, so that the text of the statement does not depend on the number of rows. */
function insertStatement(tx: Tx, rows: readonly ReturnType<typeof insertedRow>[]) {
  const columns = tx(Object.keys(rows[0] ?? {}))
  return tx`
    insert into queue (${columns})
    select ${columns} from jsonb_populate_recordset(null::queue, ${tx.json([...rows])})
    on conflict (station_id, seq) do nothing`
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

/** Begins a new pass of a playlist. Its queued rows are removed unless they were sent. */
export async function startNewPass(tx: Tx, playlistId: number): Promise<void> {
  await tx`
    update playlists p set pass = 1 + greatest(p.pass,
      (select coalesce(max(last_pass), 0) from playlist_tracks t where t.playlist_id = p.id),
      (select coalesce(max(pass), 0) from queue q
        where q.playlist_id = p.id and q.played_at_ms is null and q.skipped_at_ms is null))
    where p.id = ${playlistId}`
  await tx`
    delete from queue where playlist_id = ${playlistId} and played_at_ms is null and skipped_at_ms is null
      and not is_sent and not is_manual`
}

/**
 * A play of a later pass ends the passes before it. All but the last of these were complete when it was planned, also
 * if songs were added since; the last one ends once all tracks were played in it.
 */
export function endPassStatements(
  tx: Tx,
  { playlists }: AutodjLibrary,
  { playlistId, pass }: { readonly playlistId: number | null; readonly pass: number }
) {
  const playlist = playlists.find(({ id }) => id === playlistId)
  if (!playlist || pass <= playlist.pass) return []
  const isDone = (lastPass: number, index: number) =>
    lastPass >= pass - 1 || !trackCountsInPass(playlist, index)
  const current = playlist.tracks.lastPass.every(isDone) ? pass : pass - 1
  if (current <= playlist.pass) return []
  return [tx`update playlists set pass = ${current} where id = ${playlist.id} and pass < ${current}`]
}
