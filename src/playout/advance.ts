import { isCounted, type Library } from '../autodj/library.ts'
import { type Plan, refill } from '../autodj/refill.ts'
import type { Sql, Tx } from '../db/sql.ts'
import type { StationState } from '../station/state.ts'
import { librariesOf } from './libraries.ts'
import { nowPlayingLine } from './now-playing-line.ts'
import { planStatements } from './plan-statements.ts'
import { startColumns, startValues } from './play-statistics.ts'
import { publishEventually } from './publish.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import type { LockedStation, OpenPlay } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import { holdStation } from './situation.ts'
import { tellHooks } from './tell-hooks.ts'

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
  const { outcome, told } = await step(services.sql, request, Date.now(), note)
  if (outcome === 'gone' || outcome === 'idle' || outcome === 'not-due') return { outcome, state: null }
  const state = await publishEventually(services, request.stationId)
  await tellHooks(services, told)
  if (outcome === 'stepped' && state) services.log.info(...nowPlayingLine(state))
  return { outcome, state }
}

function step(
  sql: Sql,
  request: AdvanceRequest,
  nowMs: number,
  note: (tx: Tx) => Promise<void>
): Promise<Stepped> {
  const { stationId, endedShId, cause } = request
  return sql.begin<Stepped>(async tx => {
    const held = await holdStation(tx, stationId, nowMs, librariesOf(sql))
    if (!held) return unmoved('gone')
    const { station, play, queue, library } = held
    if (endedShId !== null && (play?.id ?? 0) !== endedShId) return unmoved('overtaken')
    if (cause === 'skip' && !play) return unmoved('idle')
    const dueAtMs = play?.dueAtMs ?? nowMs
    if (cause === 'due' && nowMs < dueAtMs - toleranceMs) return unmoved('not-due')
    const boundaryMs = cause === 'due' && nowMs - dueAtMs <= catchUpMs ? dueAtMs : nowMs
    // A clock that was set back must not end a play before it began.
    const startMs = Math.max(boundaryMs, play?.startedAtMs ?? 0)
    const before = observedBefore(station, play)
    if (!station.isClocked) {
      if (!play) return unmoved('idle')
      await Promise.all([endPlay(tx, station, play, Math.min(startMs, dueAtMs)), goSilent(tx, station, null)])
      await note(tx)
      return { outcome: 'stepped', told: await raiseTriggers(tx, station, before, startMs) }
    }
    const plan = refill({
      library,
      running: {
        startedAtMs: play?.startedAtMs ?? startMs,
        endsAtMs: startMs,
        playlistId: null,
        isInterrupt: true
      },
      nowMs: startMs,
      queue,
      queueLength: station.queueLength + 1,
      rejected: new Set(),
      nextSeq: station.nextSeq
    })
    const { first, wakeAtMs } = plan
    if (!first && !play) {
      await noteSilence(tx, station, wakeAtMs)
      return unmoved('idle')
    }
    // Sent in this order, without waiting in between.
    await Promise.all([
      ...(play ? [endPlay(tx, station, play, first ? startMs : Math.min(startMs, dueAtMs))] : []),
      ...planStatements(tx, [{ stationId, plan }]),
      ...(first
        ? [startPlay(tx, station, first, plan.insert.length, startMs), ...endPass(tx, library, first)]
        : [goSilent(tx, station, wakeAtMs)])
    ])
    await note(tx)
    return { outcome: 'stepped', told: await raiseTriggers(tx, station, before, startMs) }
  })
}

interface Stepped {
  readonly outcome: Outcome
  /** The web hooks that are to be told of it. */
  readonly told: readonly number[]
}

const unmoved = (outcome: Outcome): Stepped => ({ outcome, told: [] })

type First = NonNullable<Plan['first']>

/** Closes the history row of a play. */
export function endPlay(tx: Tx, station: LockedStation, play: OpenPlay, atMs: number) {
  return tx`update song_history set ended_at_ms = ${atMs}, listeners_end = ${station.listenersTotal}
    where id = ${play.id}`
}

/** Opens the history row of a queue row and marks what follows from it; the new row's id is `sh_id`. */
function startPlay(tx: Tx, station: LockedStation, row: First, inserted: number, atMs: number) {
  const isRow =
    row.id === null ? tx`q.station_id = ${station.id} and q.seq = ${row.seq}` : tx`q.id = ${row.id}`
  return tx`
    with play as (
      insert into song_history (station_id, media_id, playlist_id, playlist, is_request, is_visible, song_id, artist,
        title, album, genre, isrc, duration_ms, started_at_ms, due_at_ms, ${startColumns(tx)}, track_id, pass,
        request_id, occurrence_ms, title_key, artist_keys)
      select q.station_id, q.media_id, q.playlist_id, coalesce(p.name, ''), q.is_request, q.is_visible, m.song_id,
        m.artist, m.title, m.album, m.genre, m.isrc, q.duration_ms, ${atMs}, ${Math.round(row.endsAtMs)},
        ${startValues(tx, station)}, q.track_id, q.pass, q.request_id, q.occurrence_ms, m.title_key, m.artist_keys
      from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id
      where ${isRow}
      returning id
    ), taken as (
      update queue q set played_at_ms = ${atMs}, plays_at_ms = ${atMs}, history_id = (select id from play)
      where ${isRow}
    ), heard as (
      update playlist_tracks set last_pass = greatest(last_pass, ${row.pass}), last_aired_ms = ${atMs}
      where id = ${row.trackId}
    ), asked as (
      update requests set state = 'aired', ended_at_ms = ${atMs} where id = ${row.requestId}
    )
    update stations set revision = revision + 1, playback_revision = revision + 1, queue_revision = revision + 1,
      next_seq = next_seq + ${inserted}, wake_at_ms = null,
      filled_version = ${station.libraryVersion}
    where id = ${station.id}`
}

/** Marks that nothing plays any more, until something may at a time (null: until the library changes). */
export function goSilent(tx: Tx, { id, libraryVersion }: LockedStation, wakeAtMs: number | null) {
  return tx`update stations set revision = revision + 1, playback_revision = revision + 1,
    wake_at_ms = ${wakeAtMs}, wake_version = ${libraryVersion} where id = ${id}`
}

function noteSilence(tx: Tx, { id, libraryVersion }: LockedStation, wakeAtMs: number | null) {
  return tx`update stations set wake_at_ms = ${wakeAtMs}, wake_version = ${libraryVersion} where id = ${id}`
}

/** The first airing of a later pass ends the ones before it, once all of their tracks have aired. */
function endPass(tx: Tx, { playlists }: Library, { playlistId, pass }: First) {
  const playlist = playlists.find(({ id }) => id === playlistId)
  if (!playlist || pass <= playlist.pass) return []
  const isDone = (lastPass: number, index: number) => lastPass >= pass - 1 || !isCounted(playlist, index)
  if (!playlist.tracks.lastPass.every(isDone)) return []
  return [tx`update playlists set pass = ${pass} where id = ${playlist.id} and pass < ${pass}`]
}
