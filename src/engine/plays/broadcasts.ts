import { ApiError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { advance } from '../advance.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import type { EngineServices } from '../services.ts'
import { endPlayStatement } from './plays.ts'
import { reportTimeoutMs, movePlayEnd } from './provisional-plays.ts'
import { startUnscheduledPlay } from './unscheduled-plays.ts'

/** A streamer who connects. `streamerId` is null for the user `source`. */
export interface ConnectingDj {
  readonly username: string
  /** The name that listeners see; empty: the station's live text. */
  readonly displayName: string
  readonly streamerId: number | null
}

type Broadcast = { readonly id: number; readonly username: string; readonly startedAtMs: number }

/** Two reports of one connection may differ by this much. */
const sameMs = 1_000

/**
 * Begins a broadcast and ends the one before it. Repeating the call changes nothing; a broadcast that began
 * before the current one is stored as ended. Throws 404 for an unknown station, 409 for a disabled one.
 */
export async function recordDjConnect(
  services: EngineServices,
  stationId: number,
  who: ConnectingDj,
  saidMs: number
): Promise<void> {
  const connect = async (change: StationChange, current: Broadcast | undefined) => {
    const { tx, station, play } = change
    if (station.enabledBackend === null) throw new ApiError('conflict', 'This station is disabled.')
    const atMs = change.momentOf(saidMs)
    if (current?.username === who.username && Math.abs(current.startedAtMs - atMs) < sameMs) return
    if (current && current.startedAtMs > atMs) {
      await insertBroadcast(tx, stationId, who, { atMs, endedAtMs: current.startedAtMs })
      return
    }
    const startMs = Math.max(atMs, play?.startedAtMs ?? 0)
    change.happenedAt(startMs)
    change.mark(['live'])
    if (current) await endBroadcast(tx, current, startMs)
    const name = await insertBroadcast(tx, stationId, who, { atMs: startMs, endedAtMs: null })
    if (play) await endPlayStatement(change, play, startMs)
    await startUnscheduledPlay(change, await untitledSong(tx, stationId, name), {
      atMs: startMs,
      dueAtMs: null
    })
  }
  const reads = (tx: Tx) => readBroadcast(tx, stationId)
  await changeStation(services, stationId, { reads, change: connect })
}

/**
 * Ends the current broadcast, of this user only unless `username` is null. A late report about an earlier one is
 * a no-op. The clock continues at once; a playout should report the next song. Throws 404 for an unknown station.
 */
export async function recordDjDisconnect(
  services: EngineServices,
  stationId: number,
  { username, atMs: saidMs }: { readonly username: string | null; readonly atMs: number }
): Promise<void> {
  const disconnect = async (change: StationChange, current: Broadcast | undefined) => {
    const { tx, station, play } = change
    const atMs = change.momentOf(saidMs)
    if (!current || current.startedAtMs > atMs) return null
    if (username !== null && username !== current.username) return null
    change.happenedAt(atMs)
    change.mark(['live'])
    await endBroadcast(tx, current, atMs)
    // The last song of the streamer is shown until the next one begins, moments later.
    if (play?.streamer)
      await movePlayEnd(
        change,
        play,
        Math.max(atMs, play.startedAtMs) + (station.enabledBackend === 'clock' ? 0 : reportTimeoutMs)
      )
    return station.enabledBackend === 'clock' ? (play?.id ?? 0) : null
  }
  const reads = (tx: Tx) => readBroadcast(tx, stationId)
  const endedShId = await changeStation(services, stationId, { reads, change: disconnect })
  if (endedShId !== null) await advance(services, { stationId, endedShId, cause: 'due' })
}

/** Ends the current broadcast, if there is one, as part of a change that ends the play as well. */
export async function endCurrentBroadcast({ tx, station, mark }: StationChange, atMs: number): Promise<void> {
  const current = await readBroadcast(tx, station.id)
  if (!current) return
  mark(['live'])
  await endBroadcast(tx, current, Math.max(atMs, current.startedAtMs))
}

async function readBroadcast(tx: Tx, stationId: number): Promise<Broadcast | undefined> {
  const [broadcast] = await tx<Broadcast[]>`
    select id, username, started_at_ms as "startedAtMs" from broadcasts
    where station_id = ${stationId} and ended_at_ms is null`
  return broadcast
}

/** Returns the name that is shown. */
async function insertBroadcast(
  tx: Tx,
  stationId: number,
  { username, displayName, streamerId }: ConnectingDj,
  { atMs, endedAtMs }: { readonly atMs: number; readonly endedAtMs: number | null }
): Promise<string> {
  const [row] = await tx<{ name: string }[]>`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms)
    select id, ${streamerId}, ${username}, coalesce(nullif(${displayName}, ''), live_text), ${atMs}, ${endedAtMs}
    from stations where id = ${stationId}
    returning streamer_name as name`
  return row?.name ?? displayName
}

async function endBroadcast(tx: Tx, { id, startedAtMs }: Broadcast, atMs: number): Promise<void> {
  await tx`update broadcasts set ended_at_ms = ${Math.max(atMs, startedAtMs)} where id = ${id}`
}

/** The song of a streamer who has sent no title. */
async function untitledSong(tx: Tx, stationId: number, streamer: string) {
  const [row] = await tx<{ title: string }[]>`select live_text as title from stations where id = ${stationId}`
  return { artist: '', title: row?.title ?? '', mediaId: null, playlistId: null, streamer }
}
