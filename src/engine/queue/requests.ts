import { requestTtlMs } from '../../model/autodj/library.ts'
import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import { ApiError, TooManyRequests } from '../../platform/runtime/errors.ts'
import { beginForStation } from '../../stores/db/begin-for-station.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import type { EngineServices } from '../services.ts'
import { lockStations, skipLockedFragment } from '../station-facts.ts'
import type { SongToQueue } from './manual-queue.ts'
import { takeRequestsStatement } from './plan-statements.ts'
import { refillQueue } from './queue.ts'

const minuteMs = 60_000
/** Stations per run; the others follow in the next. */
const stationsAtOnce = 500

/** A request of a listener. */
export interface NewSongRequest {
  readonly media: { readonly id: number } | { readonly uniqueId: string }
  /** The owner of the cool-down: the network of the address. */
  readonly address: string
  readonly atMs: number
  /** From 0 to 1 (exclusive): the random part of the delay, relative to the station's delay. */
  readonly chance: number
}

/** The condition that media `m` may be requested: it is in an enabled playlist that allows requests. */
export const isRequestableFragment = (sql: Sql | Tx, stationId: number): Fragment => sql`
  m.station_id = ${stationId} and m.remote_playlist_id is null and exists (
    select from playlist_tracks t join playlists p on p.id = t.playlist_id
    where t.media_id = m.id and p.station_id = ${stationId} and p.is_enabled and p.source = 'songs'
      and p.include_in_requests)`

/** The condition that the station `s` accepts requests. A station without an AutoDJ cannot play them. */
export const acceptsRequestsFragment = (sql: Sql | Tx): Fragment =>
  sql`s.is_enabled and s.enable_requests and s.backend <> 'none'`

/**
 * Stores a listener's request and refills the queue; returns its id. Throws 404 for a song that cannot be
 * requested, 403 if the station accepts no requests, 429 during the cool-down, 409 for a repeated song.
 */
export async function submitRequest(change: StationChange, request: NewSongRequest): Promise<number> {
  const { tx, station } = change
  const stationId = station.id
  const { media, address, atMs, chance } = request
  const [rules] = await tx<{ isOpen: boolean; delayMs: number; cooldownMs: number }[]>`
    select ${acceptsRequestsFragment(tx)} as "isOpen", s.request_delay * ${minuteMs}::bigint as "delayMs",
      s.request_cooldown * ${minuteMs}::bigint as "cooldownMs"
    from stations s where s.id = ${stationId}`
  if (!rules) throw new ApiError('not-found')
  if (!rules.isOpen) throw new ApiError('forbidden', 'This station does not accept requests.')
  const [song] = await tx<{ id: number }[]>`
    select m.id from media m where ${isRequestableFragment(tx, stationId)}
      and ${'id' in media ? tx`m.id = ${media.id}` : tx`m.unique_id = ${media.uniqueId}`}`
  if (!song) throw new ApiError('not-found')
  await assertCooledDown(change, request, rules.cooldownMs)
  const dueAtMs = Math.round(atMs + rules.delayMs * (1 + chance))
  const [row] = await tx<{ id: number }[]>`
    insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
    values (${stationId}, ${song.id}, ${address}, ${atMs}, ${dueAtMs})
    on conflict (station_id, media_id) where state in ('pending', 'queued') do nothing returning id`
  if (!row) {
    const message = 'This song has been requested already and will be played soon.'
    throw ApiError.ofFields([{ field: 'media_id', code: 'duplicate', message }], 'conflict')
  }
  await refillQueue(change)
  return row.id
}

/**
 * Takes a pending request for a row of the queue, before it is due if need be. Throws 404 for a request that
 * is unknown or was cancelled, 409 for one that is queued, was played or has expired.
 */
export async function takeRequestForQueue(
  { tx, station }: StationChange,
  requestId: number
): Promise<SongToQueue> {
  const [request] = await tx<{ mediaId: number; state: string }[]>`
    select media_id as "mediaId", state from requests where id = ${requestId} and station_id = ${station.id}`
  if (!request || request.state === 'cancelled') {
    const message = 'request_id is not a request of this station, or it was cancelled.'
    throw ApiError.ofFields([{ field: 'request_id', code: 'not_found', message }], 'not-found')
  }
  // The station is locked, as it is when the AutoDJ takes a request.
  const taken = await takeRequestsStatement(tx, request.state === 'pending' ? [requestId] : [])
  if (taken.length > 0) return { mediaId: request.mediaId, requestId }
  const message =
    request.state === 'queued'
      ? 'request_id is already in the queue: move its song there.'
      : 'request_id was played or has expired.'
  throw ApiError.ofFields([{ field: 'request_id', code: 'already_taken', message }], 'conflict')
}

/**
 * Stores a request that an operator enters for a listener: without cool-down, and for any song. Returns its
 * id. Throws 409 if the song is already requested.
 */
export async function storeManualRequest(
  { tx, station }: StationChange,
  mediaId: number,
  atMs: number
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms, skip_delay)
    values (${station.id}, ${mediaId}, '', ${atMs}, ${atMs}, true)
    on conflict (station_id, media_id) where state in ('pending', 'queued') do nothing returning id`
  if (row) return row.id
  const message = 'media_id is requested already: send the id of that request as request_id.'
  throw ApiError.ofFields([{ field: 'media_id', code: 'duplicate', message }], 'conflict')
}

/** Throws 429 during the cool-down. Every request counts, also cancelled ones. */
async function assertCooledDown(
  { tx, station }: StationChange,
  { address, atMs }: NewSongRequest,
  cooldownMs: number
): Promise<void> {
  if (cooldownMs === 0) return
  const [last] = await tx<{ atMs: number }[]>`
    select submitted_at_ms as "atMs" from requests
    where station_id = ${station.id} and address = ${address} and submitted_at_ms > ${atMs - cooldownMs}
    order by submitted_at_ms desc limit 1`
  if (!last) return
  const seconds = Math.ceil((last.atMs + cooldownMs - atMs) / 1000)
  throw new TooManyRequests(seconds, 'You have requested a song a short while ago: try again later.')
}

/** Cancels an unplayed request and refills the queue. Throws 404, or 409 if it was sent or has ended. */
export async function cancelRequest(change: StationChange, requestId: number, nowMs: number): Promise<void> {
  const { tx, station } = change
  const count = await cancel(change, tx`r.id = ${requestId}`, nowMs)
  if (count > 0) return refillQueue(change)
  const [kept] = await tx<{ state: string }[]>`
    select state from requests where id = ${requestId} and station_id = ${station.id}`
  if (!kept || kept.state === 'cancelled') throw new ApiError('not-found')
  throw new ApiError(
    'conflict',
    kept.state === 'queued'
      ? 'The song has already been sent to the playout.'
      : 'The request was played or has expired.'
  )
}

/** Cancels all requests of a station that were not played and not sent to the playout. Returns how many. */
export async function cancelRequests(change: StationChange, nowMs: number): Promise<number> {
  const count = await cancel(change, change.tx`true`, nowMs)
  if (count > 0) await refillQueue(change)
  return count
}

async function cancel({ tx, station, mark }: StationChange, which: Fragment, nowMs: number): Promise<number> {
  const cancelled = await tx<{ id: number }[]>`
    update requests r set state = 'cancelled', ended_at_ms = ${nowMs}
    where r.station_id = ${station.id} and r.state in ('pending', 'queued') and ${which}
      and not exists (select from queue q where q.request_id = r.id and ${isWaiting(tx)} and q.is_sent)
    returning r.id`
  const ids = cancelled.map(({ id }) => id)
  const { count } =
    await tx`delete from queue q where q.request_id = any(${ids}::bigint[]) and ${isWaiting(tx)}`
  if (count > 0) mark(['queue'])
  return ids.length
}

const isWaiting = (tx: Tx): Fragment => tx`q.played_at_ms is null and q.skipped_at_ms is null`

/** Expires requests that have been due for three hours without being queued. Idempotent. Returns how many. */
export async function expireRequests(
  services: Pick<EngineServices, 'sql' | 'stationFaults'>,
  nowMs: number
): Promise<number> {
  const { sql } = services
  const latestMs = nowMs - requestTtlMs
  const paused = services.stationFaults.pausedIds('requests')
  const stations = await sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s
    where s.id <> all(${paused}::bigint[]) and s.id in (select station_id from requests where state = 'pending' and due_at_ms <= ${latestMs})
    order by s.id limit ${stationsAtOnce} ${skipLockedFragment(sql)}`
  let expired = 0
  const expire = ({ stationId }: { stationId: number }) =>
    beginForStation(sql, stationId, async tx => {
      // Locked by a refill that may queue one of them.
      await lockStations(tx, [stationId])
      const { count } = await tx`
        update requests set state = 'expired', ended_at_ms = ${nowMs}
        where station_id = ${stationId} and state = 'pending' and due_at_ms <= ${latestMs}`
      expired += count
    })
  await forEachStation(services, 'requests', stations, expire)
  return expired
}

const addressesAtOnce = 5_000

/** Removes a batch of addresses of requests after the cool-down, their only use. Returns the number. */
export async function removeRequestAddresses(sql: Sql, nowMs: number): Promise<number> {
  const { count } = await sql`
    update requests set address = '' where id in (
      select r.id from requests r join stations s on s.id = r.station_id
      where r.address <> '' and r.submitted_at_ms <= ${nowMs} - s.request_cooldown * ${minuteMs}::bigint
      limit ${addressesAtOnce} for update of r skip locked)`
  return count
}
