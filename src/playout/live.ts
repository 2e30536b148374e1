import type { Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { ApiError } from '../errors.ts'
import { advance } from './advance.ts'
import { bridgeAfterMs } from './bridge.ts'
import { lockInTime, momentIn } from './future.ts'
import { startTold } from './hearsay.ts'
import { endPlay } from './plays.ts'
import { publishEventually } from './publish.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import type { LockedStation, OpenPlay } from './rows.ts'
import type { PlayoutServices } from './services.ts'
import type { HeldStation } from './situation.ts'
import { tellHooks } from './tell-hooks.ts'

/** Somebody who goes live. `streamerId` null: the user `source`. */
export interface Broadcaster {
  readonly username: string
  /** What listeners read; empty: the station's live text. */
  readonly displayName: string
  readonly streamerId: number | null
}

interface Broadcast {
  readonly id: number
  readonly username: string
  readonly startedAtMs: number
}

/** Two tellings of one beginning may differ by this much. */
const sameMs = 1_000

/**
 * Begins a broadcast, and ends the one before it: a hand-over is both. What the AutoDJ played ends; its queue is kept. The
 * same told twice is one; one that began before the broadcast that is on is over already. Throws 404 for an unknown station, 409
 * for one that is switched off.
 */
export async function goLive(
  services: PlayoutServices,
  stationId: number,
  who: Broadcaster,
  saidMs: number
): Promise<void> {
  const told = await beginForStation(services.sql, stationId, async tx => {
    const held = await lockInTime(tx, stationId)
    if (!held) throw new ApiError('not-found')
    const { station, play } = held
    if (station.driver === null) throw new ApiError('conflict', 'This station is switched off.')
    const atMs = momentIn(held, saidMs)
    const current = await readBroadcast(tx, stationId)
    if (current?.username === who.username && Math.abs(current.startedAtMs - atMs) < sameMs) return null
    if (current && current.startedAtMs > atMs) {
      await insertBroadcast(tx, stationId, who, { atMs, endedAtMs: current.startedAtMs })
      return null
    }
    const startMs = Math.max(atMs, play?.startedAtMs ?? 0)
    if (current) await endBroadcast(tx, current, startMs)
    const name = await insertBroadcast(tx, stationId, who, { atMs: startMs, endedAtMs: null })
    if (play) await endPlay(tx, station, play, startMs)
    await startTold(tx, station, await untitled(tx, stationId, name), { atMs: startMs, dueAtMs: null })
    await markLive(tx, stationId)
    return raiseTriggers(tx, station, observedBefore(station, play), startMs)
  })
  if (told === null) return
  await publishEventually(services, stationId)
  await tellHooks(services, told)
}

/**
 * Ends the broadcast of a user, where it is the one that is on and began before: a late word of the streamer before changes nothing. The
 * clock goes on at once; from a playout the next song is expected within seconds. Throws 404 for an unknown station.
 */
export async function endLive(
  services: PlayoutServices,
  stationId: number,
  { username, atMs: saidMs }: { readonly username: string | null; readonly atMs: number }
): Promise<void> {
  const ended = await beginForStation(services.sql, stationId, async tx => {
    const held = await lockInTime(tx, stationId)
    if (!held) throw new ApiError('not-found')
    const atMs = momentIn(held, saidMs)
    const current = await readBroadcast(tx, stationId)
    if (!current || current.startedAtMs > atMs) return null
    if (username !== null && username !== current.username) return null
    return closeLive(tx, held, current, atMs)
  })
  if (ended === null) return
  await publishEventually(services, stationId)
  await tellHooks(services, ended.told)
  if (ended.shId !== null) await advance(services, { stationId, endedShId: ended.shId, cause: 'due' })
}

/** Ends whatever broadcast there is, as part of a step that ends the play on air as well. */
export async function dropLive(tx: Tx, stationId: number, atMs: number): Promise<void> {
  const current = await readBroadcast(tx, stationId)
  if (!current) return
  await endBroadcast(tx, current, Math.max(atMs, current.startedAtMs))
  await markLive(tx, stationId)
}

async function closeLive(
  tx: Tx,
  { station, play }: Pick<HeldStation, 'station' | 'play'>,
  current: Broadcast,
  atMs: number
) {
  await endBroadcast(tx, current, atMs)
  await markLive(tx, station.id)
  if (play?.streamer) await letGo(tx, station, play, atMs)
  const told = await raiseTriggers(tx, station, observedBefore(station, play), atMs)
  return { told, shId: station.isClocked ? (play?.id ?? 0) : null }
}

/** What the streamer played last stands until the next song begins, for a moment at most. */
async function letGo(tx: Tx, station: LockedStation, play: OpenPlay, atMs: number): Promise<void> {
  const dueAtMs = Math.max(atMs, play.startedAtMs) + (station.isClocked ? 0 : bridgeAfterMs)
  await tx`update song_history set due_at_ms = ${dueAtMs} where id = ${play.id}`
  await tx`update stations set revision = next_revision(revision), playback_revision = next_revision(revision) where id = ${station.id}`
}

async function readBroadcast(tx: Tx, stationId: number): Promise<Broadcast | undefined> {
  const [broadcast] = await tx<Broadcast[]>`
    select id, username, started_at_ms as "startedAtMs" from broadcasts
    where station_id = ${stationId} and ended_at_ms is null`
  return broadcast
}

/** Gives the name that is shown. */
async function insertBroadcast(
  tx: Tx,
  stationId: number,
  { username, displayName, streamerId }: Broadcaster,
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

function markLive(tx: Tx, stationId: number) {
  return tx`update stations set revision = next_revision(revision), live_revision = next_revision(revision) where id = ${stationId}`
}

/** What a streamer plays who has told no title. */
async function untitled(tx: Tx, stationId: number, streamer: string) {
  const [row] = await tx<{ title: string }[]>`select live_text as title from stations where id = ${stationId}`
  return { artist: '', title: row?.title ?? '', mediaId: null, playlistId: null, streamer }
}
