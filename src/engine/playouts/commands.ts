import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { advanceInChange } from '../advance.ts'
import type { StationChange } from '../change-station.ts'
import { endCurrentBroadcast } from '../plays/broadcasts.ts'
import { endPlayStatement, markSilent } from '../plays/plays.ts'
import { isPlayoutConnectedFragment } from './playout-state.ts'

/** A command for a playout. `queueId`: the row of the queue that interrupts. `atMs`: when. */
export type PlayoutCommand =
  | { readonly type: 'skip' }
  | { readonly type: 'interrupt'; readonly queueId: number; readonly atMs: number }
  | { readonly type: 'metadata'; readonly artist: string; readonly title: string }
  | { readonly type: AnnouncedCommand }

/** Commands that only some scripts execute: those that announce them when they poll. */
export const announcedCommands = ['disconnect', 'restart'] as const
export type AnnouncedCommand = (typeof announcedCommands)[number]

/** Commands that the playout has not read after this time expire. */
const commandTtlMs = 60_000
const commandsAtOnce = 50

/** Adds a command for the playout and ends its long poll, which reads commands when the station changes. */
export async function addPlayoutCommand(
  { tx, station, mark }: StationChange,
  command: PlayoutCommand
): Promise<void> {
  mark(['queue'])
  await tx`insert into playout_commands (station_id, command, created_at_ms)
    values (${station.id}, ${tx.json({ ...command })}, ${engineTimeMs()})`
}

/** Reads the commands after a given one, in order; with null only the number of the newest. */
export async function readPlayoutCommands(sql: Sql, stationId: number, seen: number | null) {
  if (seen === null) {
    const [newest] = await sql<{ id: number }[]>`
      select coalesce(max(id), 0) as id from playout_commands where station_id = ${stationId}`
    return { seen: newest?.id ?? 0, commands: [] }
  }
  const rows = await sql<{ id: number; command: PlayoutCommand }[]>`
    select id, command from playout_commands
    where station_id = ${stationId} and id > ${seen} and created_at_ms > ${engineTimeMs() - commandTtlMs}
    order by id limit ${commandsAtOnce}`
  return { seen: rows.at(-1)?.id ?? seen, commands: rows.map(({ command }) => command) }
}

/** The play that now playing shows: during a jingle, the song before it. */
const readShownPlay = (tx: Tx, stationId: number) => tx<{ id: number }[]>`
  select id from song_history where station_id between ${stationId} and ${stationId} and is_visible
  order by station_id desc, started_at_ms desc, id desc limit 1`

/**
 * Ends the current song; with `meantShId` only that play or the jingle during it. Throws 409 if impossible.
 */
export async function skipCurrentSong(change: StationChange, meantShId: number | null): Promise<void> {
  const { tx, station, play } = change
  if (!play) throw new ApiError('conflict', 'Nothing is playing.')
  if (
    meantShId !== null &&
    play.id !== meantShId &&
    (await readShownPlay(tx, station.id))[0]?.id !== meantShId
  )
    throw new ApiError('conflict', 'Another song is playing now.')
  if (station.liveSinceMs !== null) throw new ApiError('conflict', 'A streamer is live.')
  if (station.enabledBackend === 'clock') await advanceInChange(change, { endedShId: play.id, cause: 'skip' })
  else if (station.enabledBackend === 'liquidsoap') await addPlayoutCommand(change, { type: 'skip' })
  else throw new ApiError('conflict', 'Cannot skip: the streaming server controls playback.')
}

/** Records that a playout called. */
export async function recordPlayoutCall(sql: Sql | Tx, stationId: number, nowMs: number): Promise<void> {
  await sql`
    insert into playouts (station_id, seen_at_ms) values (${stationId}, ${nowMs})
    on conflict (station_id) do update set seen_at_ms = greatest(playouts.seen_at_ms, excluded.seen_at_ms),
      left_at_ms = null`
}

/** Records that a playout polls for commands, so a missing poll means that it is gone, and which it announces. */
export async function recordCommandPoll(
  sql: Sql,
  stationId: number,
  nowMs: number,
  announced: readonly AnnouncedCommand[]
): Promise<void> {
  await sql`
    insert into playouts (station_id, seen_at_ms, takes_commands, commands)
    values (${stationId}, ${nowMs}, true, ${sql.json([...announced])})
    on conflict (station_id) do update set seen_at_ms = greatest(playouts.seen_at_ms, excluded.seen_at_ms),
      left_at_ms = null, takes_commands = true, commands = excluded.commands`
}

/** Adds a command for a connected playout whose script executes it. Throws 409 if there is none. */
export async function addAnnouncedCommand(change: StationChange, type: AnnouncedCommand): Promise<void> {
  const { tx, station } = change
  const [playout] = await tx<{ isConnected: boolean; isAnnounced: boolean }[]>`
    select ${isPlayoutConnectedFragment(tx, station.readAtMs)} as "isConnected", o.commands ? ${type}::text as "isAnnounced"
    from playouts o join stations s on s.id = o.station_id where o.station_id = ${station.id}`
  if (!playout?.isConnected) throw new ApiError('conflict', 'The playout of the station is not connected.')
  if (!playout.isAnnounced)
    throw new ApiError(
      'conflict',
      `The script of the playout does not execute "${type}": download it again and restart Liquidsoap.`
    )
  await addPlayoutCommand(change, { type })
}

/** Records that the command poll of a playout was disconnected, unless it called since. */
export async function recordPlayoutDisconnect(sql: Sql, stationId: number, nowMs: number): Promise<void> {
  await sql`
    update playouts set left_at_ms = ${nowMs}, left_last_ms = ${nowMs}
    where station_id = ${stationId} and seen_at_ms <= ${nowMs}`
}

/** Records that a playout has started: its song stopped with the lost connection. Publishes nothing. */
export async function recordStoppedPlay(tx: Tx, stationId: number): Promise<void> {
  await tx`
    update song_history h set stopped_at_ms = o.left_last_ms from playouts o
    where o.station_id = ${stationId} and h.station_id = ${stationId} and h.ended_at_ms is null
      and h.streamer = '' and o.left_last_ms >= h.started_at_ms`
}

/** Ends the current play because the station is disabled. */
export async function endPlayOfDisabledStation(change: StationChange): Promise<void> {
  const { station, play } = change
  await endCurrentBroadcast(change, station.readAtMs)
  if (!play) return
  const endMs = Math.min(station.readAtMs, play.dueAtMs ?? Infinity)
  await endPlayStatement(change, play, Math.max(endMs, play.startedAtMs))
  markSilent(change)
}

/** Sets an end for the last reported song, because the clock takes over and no report will end it. */
export async function scheduleEndByClock({ tx, station, mark }: StationChange): Promise<void> {
  const { count } = await tx`
    update song_history set due_at_ms = greatest(started_at_ms + duration_ms, ${station.readAtMs}::bigint)
    where station_id = ${station.id} and ended_at_ms is null and due_at_ms is null and not exists (
      select from broadcasts b where b.station_id = ${station.id} and b.ended_at_ms is null)`
  if (count > 0) mark(['playback'])
}
