import type { Sql, Tx } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { advancePlay } from './advance.ts'
import type { StationChange } from './change-station.ts'

/** What a playout can be told to do; a song is the row of the queue that is to cut in. `atMs`: when. */
export type Command =
  | { readonly type: 'skip' }
  | { readonly type: 'interrupt'; readonly queueId: number; readonly atMs: number }
  | { readonly type: 'metadata'; readonly artist: string; readonly title: string }

/** What a playout has not taken by then is no longer meant. */
const meantForMs = 60_000
const atOnce = 50

/** Adds a command for the playout, and ends its long poll, which reads commands when the station changes. */
export async function addCommand({ tx, station, mark }: StationChange, command: Command): Promise<void> {
  mark(['queue'])
  await tx`insert into playout_commands (station_id, command, created_at_ms)
    values (${station.id}, ${tx.json({ ...command })}, ${engineTimeMs()})`
}

/** The commands behind one that was seen, in order; with null only the number of the newest. */
export async function readCommands(
  sql: Sql,
  stationId: number,
  seen: number | null
): Promise<{ seen: number; commands: Command[] }> {
  if (seen === null) {
    const [newest] = await sql<{ id: number }[]>`
      select coalesce(max(id), 0) as id from playout_commands where station_id = ${stationId}`
    return { seen: newest?.id ?? 0, commands: [] }
  }
  const rows = await sql<{ id: number; command: Command }[]>`
    select id, command from playout_commands
    where station_id = ${stationId} and id > ${seen} and created_at_ms > ${engineTimeMs() - meantForMs}
    order by id limit ${atOnce}`
  return { seen: rows.at(-1)?.id ?? seen, commands: rows.map(({ command }) => command) }
}

/** The play that now playing shows: during a jingle, the song before it. */
async function shownPlay(tx: Tx, stationId: number): Promise<number | null> {
  const [play] = await tx<{ id: number }[]>`
    select id from song_history where station_id between ${stationId} and ${stationId} and is_visible
    order by station_id desc, started_at_ms desc, id desc limit 1`
  return play?.id ?? null
}

/**
 * Ends the current song: the clock starts the next one at once, a playout gets a command. With `meantShId` only that play, or the jingle
 * during which it is shown. Throws 409 if nothing plays, another play is current, a streamer is live, or a streaming server controls
 * playback.
 */
export async function skipSong(change: StationChange, meantShId: number | null): Promise<void> {
  const { tx, station, play } = change
  if (!play) throw new ApiError('conflict', 'Nothing is playing.')
  if (meantShId !== null && play.id !== meantShId && (await shownPlay(tx, station.id)) !== meantShId)
    throw new ApiError('conflict', 'Another song is playing by now.')
  if (station.liveSinceMs !== null) throw new ApiError('conflict', 'A streamer is live.')
  if (station.isClocked) await advancePlay(change, { endedShId: play.id, cause: 'skip' })
  else if (station.driver === 'liquidsoap') await addCommand(change, { type: 'skip' })
  else throw new ApiError('conflict', 'Cannot skip: the streaming server controls playback.')
}
