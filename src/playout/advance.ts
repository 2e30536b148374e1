import { airtimeMs } from '../autodj/estimate.ts'
import { refill } from '../autodj/refill.ts'
import { readLibrary } from '../db/library.ts'
import type { Sql, Tx } from '../db/sql.ts'
import type { StationState } from '../station/state.ts'
import { nowPlayingLine } from './now-playing-line.ts'
import { publishEventually } from './publish.ts'
import { planStatements } from './queue.ts'
import { type LockedStation, lockStation, type OpenPlay, readOpenPlay, readQueue } from './rows.ts'
import type { PlayoutServices } from './services.ts'

/**
 * `due`: the play has reached its end. `skip`: an operator ends it now, whatever it is. `wake`: nothing plays, and
 * there may be something to play.
 */
export type Cause = 'due' | 'skip' | 'wake'

export interface AdvanceRequest {
  readonly stationId: number
  /** The play to end, 0 for `wake`; with `skip` null means whichever is on. */
  readonly endedShId: number | null
  readonly cause: Cause
}

/**
 * `stepped`: this call ended the play. `overtaken`: another play is on by now. `not-due`: its end has moved to
 * later. `idle`: nothing plays and nothing is to be played. `gone`: no such station.
 */
export type Outcome = 'stepped' | 'overtaken' | 'not-due' | 'idle' | 'gone'

/** Later than this, the engine starts from now instead of catching up with what nobody heard. */
const catchUpMs = 5_000

/** Two machines' clocks may differ by this much before a step counts as too early. */
const toleranceMs = 20

/**
 * Ends a play and starts the next: one Postgres transaction, then the live state. Safe to repeat at any time and on
 * any number of machines; whoever comes second finds the work done and only makes sure that it shows. `note` is part of
 * the transaction of a step that ended the play.
 */
export async function advance(
  services: PlayoutServices,
  request: AdvanceRequest,
  note: (tx: Tx) => Promise<void> = async () => {}
): Promise<{ outcome: Outcome; state: StationState | null }> {
  const outcome = await step(services.sql, request, Date.now(), note)
  if (outcome === 'gone' || outcome === 'idle' || outcome === 'not-due') return { outcome, state: null }
  const state = await publishEventually(services, request.stationId)
  if (outcome === 'stepped' && state) services.log.info(...nowPlayingLine(state))
  return { outcome, state }
}

function step(
  sql: Sql,
  request: AdvanceRequest,
  nowMs: number,
  note: (tx: Tx) => Promise<void>
): Promise<Outcome> {
  const { stationId, endedShId, cause } = request
  return sql.begin<Outcome>(async tx => {
    const [station, play, queue, library] = await Promise.all([
      lockStation(tx, stationId),
      readOpenPlay(tx, stationId),
      readQueue(tx, stationId),
      readLibrary(tx, stationId)
    ])
    if (!station) return 'gone'
    if (endedShId !== null && (play?.id ?? 0) !== endedShId) return 'overtaken'
    if (cause === 'skip' && !play) return 'idle'
    const dueAtMs = play?.dueAtMs ?? nowMs
    if (cause === 'due' && nowMs < dueAtMs - toleranceMs) return 'not-due'
    const boundaryMs = cause === 'due' && nowMs - dueAtMs <= catchUpMs ? dueAtMs : nowMs
    // A clock that was set back must not end a play before it began.
    const startMs = Math.max(boundaryMs, play?.startedAtMs ?? 0)

    const plan = refill({
      library: station.isClocked ? library : [],
      running: { startedAtMs: play?.startedAtMs ?? startMs, endsAtMs: startMs },
      songOnAir: play?.songId ?? null,
      queue,
      queueLength: station.queueLength + 1,
      rejected: new Set(),
      seed: station.randomSeed,
      nextSeq: station.nextSeq
    })
    const next = station.isClocked ? nextRow(queue[0], plan.insert[0]) : null
    if (!next && !play) return 'idle'
    // Sent in this order, without waiting in between.
    await Promise.all([
      ...(play ? [endPlay(tx, station, play, next ? startMs : Math.min(startMs, dueAtMs))] : []),
      ...(next
        ? [...planStatements(tx, stationId, plan), startPlay(tx, station, next, plan.insert.length, startMs)]
        : [goSilent(tx, station)]),
      ...(next?.isOfNextPass && next.playlistId !== null ? [endPass(tx, next.playlistId, next.pass)] : [])
    ])
    await note(tx)
    return 'stepped'
  })
}

interface NextRow {
  readonly seq: number
  readonly trackId: number | null
  readonly playlistId: number | null
  readonly pass: number
  readonly durationMs: number
  readonly isOfNextPass: boolean
}

type Inserted = ReturnType<typeof refill>['insert'][number]

function nextRow(queued: NextRow | undefined, inserted: Inserted | undefined): NextRow | null {
  if (queued) return queued
  if (!inserted) return null
  const { seq, track, playlist } = inserted
  return { seq, ...track, playlistId: playlist.id, isOfNextPass: true }
}

/** Closes the history row of a play. */
export function endPlay(tx: Tx, station: LockedStation, play: OpenPlay, atMs: number) {
  return tx`update song_history set ended_at_ms = ${atMs}, listeners_end = ${station.listenersTotal}
    where id = ${play.id}`
}

/** Opens the history row of a queue row and marks what follows from it; the new row's id is `sh_id`. */
function startPlay(tx: Tx, station: LockedStation, row: NextRow, inserted: number, atMs: number) {
  const { listenersTotal: total, listenersUnique: unique } = station
  return tx`
    with play as (
      insert into song_history (station_id, media_id, playlist_id, playlist, is_request, is_visible, song_id, artist,
        title, album, genre, isrc, duration_ms, started_at_ms, due_at_ms, listeners_start, listeners_end,
        listeners_peak, unique_listeners)
      select q.station_id, q.media_id, q.playlist_id, coalesce(p.name, ''), q.is_request, q.is_visible, m.song_id,
        m.artist, m.title, m.album, m.genre, m.isrc, q.duration_ms, ${atMs}, ${atMs + airtimeMs(row.durationMs)},
        ${total}, ${total}, ${total}, ${unique}
      from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id
      where q.station_id = ${station.id} and q.seq = ${row.seq}
      returning id
    ), taken as (
      update queue set played_at_ms = ${atMs}, plays_at_ms = ${atMs}, history_id = (select id from play)
      where station_id = ${station.id} and seq = ${row.seq}
    ), heard as (
      update playlist_tracks set last_pass = greatest(last_pass, ${row.pass}), last_aired_ms = ${atMs}
      where id = ${row.trackId}
    )
    update stations set revision = revision + 1, playback_revision = revision + 1, queue_revision = revision + 1,
      next_seq = next_seq + ${inserted}
    where id = ${station.id}`
}

/** Marks that nothing plays any more. */
export function goSilent(tx: Tx, station: LockedStation) {
  return tx`update stations set revision = revision + 1, playback_revision = revision + 1 where id = ${station.id}`
}

/** The first airing of the next pass ends the current one, once all of its tracks have aired. */
function endPass(tx: Tx, playlistId: number, pass: number) {
  return tx`update playlists p set pass = ${pass} where p.id = ${playlistId} and p.pass < ${pass}
    and not exists (select from playlist_tracks t where t.playlist_id = p.id and t.last_pass < p.pass)`
}
