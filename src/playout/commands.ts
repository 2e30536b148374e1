import type { Sql, Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { ApiError } from '../errors.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { advance } from './advance.ts'
import { publishEventually } from './publish.ts'
import { lockStation, readOpenPlay } from './rows.ts'
import type { PlayoutServices } from './services.ts'

/** What a playout can be told to do; a song is the row of the queue that is to cut in. `atMs`: when. */
export type Command =
  | { readonly type: 'skip' }
  | { readonly type: 'interrupt'; readonly queueId: number; readonly atMs: number }
  | { readonly type: 'metadata'; readonly artist: string; readonly title: string }

/** What a playout has not taken by then is no longer meant. */
const meantForMs = 60_000
const atOnce = 50

/** Tells a playout to do something, and wakes it: who waits for a command looks when its station changes. */
export async function addCommand(tx: Tx, stationId: number, command: Command): Promise<void> {
  await tx`insert into playout_commands (station_id, command, created_at_ms)
    values (${stationId}, ${tx.json({ ...command })}, ${engineTimeMs()})`
  await tx`update stations set revision = next_revision(revision), queue_revision = next_revision(revision) where id = ${stationId}`
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
 * Ends the song on air: the clock goes on at once, a playout is told to. With `meantShId` only that play, or the
 * jingle during which it is shown. Throws 409 where nothing plays,
 * or another play than is meant, where a streamer is live, or nobody can be told.
 */
export async function skipSong(
  services: PlayoutServices,
  stationId: number,
  meantShId: number | null,
  note: (tx: Tx) => Promise<void>
): Promise<void> {
  const shId = await beginForStation(services.sql, stationId, async tx => {
    const station = await lockStation(tx, stationId)
    if (!station) throw new ApiError('not-found')
    const play = await readOpenPlay(tx, stationId)
    if (!play) throw new ApiError('conflict', 'Nothing is playing.')
    if (meantShId !== null && play.id !== meantShId && (await shownPlay(tx, stationId)) !== meantShId)
      throw new ApiError('conflict', 'Another song is playing by now.')
    if (station.liveSinceMs !== null) throw new ApiError('conflict', 'A streamer is live.')
    if (station.isClocked) return play.id
    if (station.driver !== 'liquidsoap')
      throw new ApiError('conflict', 'What plays is said by the streaming server: it cannot be told.')
    await addCommand(tx, stationId, { type: 'skip' })
    await note(tx)
    return null
  })
  if (shId === null) await publishEventually(services, stationId)
  else await advance(services, { stationId, endedShId: shId, cause: 'skip' }, note)
}
