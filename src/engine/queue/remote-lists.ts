import type { BlockList } from 'node:net'

import { parseRemoteList, type RemoteList } from '../../model/songs/remote-list.ts'
import type { ImportedSong } from '../../model/songs/song.ts'
import { findUrlProblem } from '../../platform/outbound/guard.ts'
import { FetchFault, guardedFetch } from '../../platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../platform/outbound/networks.ts'
import { findCharset } from '../../platform/text/foreign-text.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { changeStation, type StationChange } from '../change-station.ts'
import type { EngineServices } from '../services.ts'
import { refillStationQueue } from './queue.ts'
import {
  compareRemoteEntries,
  hasNoEntryChanges,
  applyRemoteEntryChanges,
  readRemoteEntries,
  removeUnusedEntryMedia,
  writeRemoteMedia
} from './remote-entries.ts'

export interface RemoteListServices extends EngineServices {
  readonly config: { readonly WEBHOOK_ALLOWED_NETWORKS: readonly string[] }
}

const everyMs = 10 * 60_000
/** The first pause after a failure; later ones are as long as the list has been failing. */
const soonestMs = 30_000
/** Longer than fetching and storing takes. */
const leaseMs = 60_000
/** Operators are notified after failures for this long. */
const alertAfterMs = 60 * 60_000
/** Lists in parallel, so that one that takes its 10 seconds does not delay all others. */
const concurrency = 4

const alertKey = (id: number) => `remote-list:${id}`

/** A list that this process may fetch until its lease expires. */
interface LeasedList {
  readonly id: number
  readonly stationId: number
  readonly name: string
  readonly station: string
  readonly url: string
  readonly leasedUntilMs: number
  readonly failingSinceMs: number | null
  readonly problem: string
  readonly isNew: boolean
}

/**
 * Fetches remote playlists that are due, the longest due first, and stores their entries. A list is leased
 * before it is fetched; the lease of a process that was killed expires. Returns the number of fetches, failed
 * ones included; rejects when `signal` is aborted.
 */
export async function refreshRemoteLists(
  services: RemoteListServices,
  nowMs: number,
  signal = new AbortController().signal
): Promise<number> {
  const allowed = toNetworkList(services.config.WEBHOOK_ALLOWED_NETWORKS)
  const calledAtMs = performance.now()
  const clock = () => Math.round(nowMs + performance.now() - calledAtMs)
  let fetched = 0
  const lane = async () => {
    for (;;) {
      signal.throwIfAborted()
      const list = await leaseNext(services.sql, clock())
      if (!list) return
      const fetchAndKeep = async () =>
        refresh(services, list, await fetchList(list.url, allowed, signal), clock())
      // If a store is away, the list is fetched again when its lease expires.
      await services.stationFaults.isolate('remote_lists', list.stationId, fetchAndKeep, {
        signal,
        part: list.id
      })
      fetched++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  return fetched
}

/** Leases the list that has been due for the longest time. */
async function leaseNext(sql: Sql, nowMs: number): Promise<LeasedList | undefined> {
  const [list] = await sql<LeasedList[]>`
    update playlists p set fetch_at_ms = ${nowMs + leaseMs}
    from stations s
    where s.id = p.station_id and p.id = (
      select x.id from playlists x join stations y on y.id = x.station_id
      where x.source = 'remote_url' and x.remote_type = 'playlist' and x.is_enabled and x.fetch_at_ms <= ${nowMs}
        and y.is_enabled and y.backend <> 'none'
      order by x.fetch_at_ms limit 1 for no key update of x skip locked)
    returning p.id, s.id as "stationId", p.name, s.name as station, p.remote_url as url,
      p.fetch_at_ms as "leasedUntilMs", p.failing_since_ms as "failingSinceMs", p.fetch_problem as problem,
      p.fetched_at_ms = 0 as "isNew"`
  return list
}

async function fetchList(url: string, allowed: BlockList, signal: AbortSignal): Promise<RemoteList> {
  try {
    const { status, headers, body } = await guardedFetch(url, { allowed, signal })
    if (status !== 200) return { problem: `The server answered ${status}.` }
    return withAllowedSongs(parseRemoteList(body, url, findCharset(headers['content-type'] ?? '')), allowed)
  } catch (error) {
    if (error instanceof FetchFault) return { problem: error.message }
    throw error
  }
}

/** Leaves out entries with addresses that may not be reached. Names are looked up when a playout gets the song. */
function withAllowedSongs(list: RemoteList, allowed: BlockList): RemoteList {
  if ('problem' in list) return list
  const songs = list.songs.filter(({ path }) => findUrlProblem(path, allowed) === null)
  return songs.length === 0
    ? {
        problem:
          'The list cannot be used: all of its addresses are private, or not allowed for another reason.'
      }
    : { songs }
}

async function refresh(services: RemoteListServices, list: LeasedList, fetched: RemoteList, nowMs: number) {
  if ('problem' in fetched) return noteFailure(services, list, fetched.problem, nowMs)
  const isChanged = await keep(services, list, fetched.songs, nowMs)
  if (list.isNew || list.failingSinceMs !== null) await resolveAlert(services.sql, alertKey(list.id))
  if (isChanged) await refillStationQueue(services, list.stationId)
}

/** Stores the songs of a list. Returns whether they changed. */
async function keep(
  services: RemoteListServices,
  list: LeasedList,
  songs: readonly ImportedSong[],
  nowMs: number
): Promise<boolean> {
  const { sql } = services
  const changes = compareRemoteEntries(await readRemoteEntries(sql, list.id), songs)
  if (hasNoEntryChanges(changes)) {
    await noteSuccess(sql, list, nowMs)
    return false
  }
  const place = async (change: StationChange) => {
    if (!(await noteSuccess(change.tx, list, nowMs))) return false
    await applyRemoteEntryChanges(change, list, changes)
    return true
  }
  return changeStation(services, list.stationId, place, {
    beforeLock: tx => writeRemoteMedia(tx, list, changes)
  })
}

/** Whether the lease holds: a new address makes the list due at once, which ends the lease. */
const isLeased = (sql: Sql | Tx, { id, leasedUntilMs, url }: LeasedList) =>
  sql`id = ${id} and fetch_at_ms = ${leasedUntilMs} and remote_url = ${url}`

const jittered = (ms: number) => Math.round(ms * (0.9 + Math.random() * 0.2))

async function noteSuccess(sql: Sql | Tx, list: LeasedList, nowMs: number): Promise<boolean> {
  const { count } = await sql`
    update playlists set fetched_at_ms = ${nowMs}, fetch_at_ms = ${nowMs + jittered(everyMs)},
      fetch_problem = '', failing_since_ms = null
    where ${isLeased(sql, list)}`
  return count > 0
}

/** The entries of the last successful fetch stay. */
async function noteFailure(
  { sql, log }: RemoteListServices,
  list: LeasedList,
  problem: string,
  nowMs: number
): Promise<void> {
  const sinceMs = list.failingSinceMs ?? nowMs
  const failingMs = nowMs - sinceMs
  const pauseMs = Math.min(everyMs, Math.max(soonestMs, failingMs))
  const { count } = await sql`
    update playlists set fetch_problem = ${problem}, failing_since_ms = ${sinceMs},
      fetch_at_ms = ${nowMs + jittered(pauseMs)}
    where ${isLeased(sql, list)}`
  if (count === 0) return
  if (problem !== list.problem) log.warn({ playlist: list.id, problem }, 'remote list not fetched')
  if (failingMs < alertAfterMs) return
  await raiseAlert(sql, {
    key: alertKey(list.id),
    title: `A remote playlist cannot be fetched: ${list.name}`,
    body: `For an hour no attempt of ${list.station} has succeeded. ${problem} What was fetched before stays in use.`,
    type: 'warning',
    source: 'playout'
  })
}

/** Removes unused media of remote playlists and alerts of inactive ones. Returns the number of media. */
export async function removeUnusedRemoteMedia(sql: Sql): Promise<number> {
  await sql`
    delete from open_facts f where starts_with(f.fact, 'remote-list:') and not exists (
      select from playlists p where f.fact = 'remote-list:' || p.id and p.source = 'remote_url'
        and p.remote_type = 'playlist' and p.is_enabled)`
  return removeUnusedEntryMedia(sql)
}
