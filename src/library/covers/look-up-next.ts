import { changeStation } from '../../engine/change-station.ts'
import type { EngineServices } from '../../engine/services.ts'
import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { withJitter } from '../../platform/runtime/repeat.ts'
import { isStoreAway } from '../../platform/runtime/store-errors.ts'
import { type CoverSource, findCover, LookupFault } from './find-cover.ts'
import { type CoverLookupLease, returnCoverLookupLease, acquireCoverLookupLease } from './lookup-lease.ts'
import {
  type SongToLookUp,
  findSongToLookUp,
  findPartsShowing,
  findStationsPlaying,
  storeLookupFailure,
  storeLookupResult
} from './lookups.ts'

const secondMs = 1_000
const dayMs = 86_400 * secondMs

const timeoutMs = 60 * secondMs
/** Longer than a lookup and storing its result takes. */
const leaseMs = timeoutMs + 30 * secondMs
/** The pause if no lookup is due. */
const idleMs = 2 * secondMs

/** A song that is on air later than this is looked up again. */
const foundTtlMs = 180 * dayMs
const notFoundTtlMs = 30 * dayMs

/** The first pause of a song after a failure, doubled by each further one. */
const songBackoffMs = 60 * secondMs
/** After this many failures in a row, a song counts as not found. */
const maxFailures = 10
/** The same for all lookups, so that a service that is down is asked rarely. */
const backoffMs = 5 * secondMs
const maxBackoffMs = 600 * secondMs
const maxRetryAfterMs = 3_600 * secondMs

/**
 * Looks up the cover of one song that is on air and has none, and shows it. Of all processes, one at a time
 * does this. Returns whether it looked up a song. Rejects with the reason of the signal if it is aborted.
 */
export async function lookUpNextCover(
  services: EngineServices,
  source: CoverSource,
  nowMs: number,
  signal: AbortSignal
): Promise<boolean> {
  const calledAtMs = performance.now()
  const clock = () => Math.round(nowMs + performance.now() - calledAtMs)
  const lease = await acquireCoverLookupLease(services.sql, nowMs, leaseMs)
  if (!lease) return false
  let [pauseMs, failures] = [source.spacingMs, lease.failures]
  try {
    const song = await findSongToLookUp(services.sql, nowMs)
    if (!song) {
      pauseMs = idleMs
      return false
    }
    const fault = await lookUp(services, source, song, clock, signal)
    failures = fault === null ? 0 : lease.failures + 1
    if (fault !== null) {
      pauseMs = Math.max(pauseMs, pauseAfter(failures), Math.min(fault.retryAfterMs, maxRetryAfterMs))
      reportFault(services, lease, fault, pauseMs)
    }
    return true
  } catch (error) {
    // A result that cannot be stored would be requested again and again.
    if (!signal.aborted) pauseMs = Math.max(pauseMs, pauseAfter(++failures))
    throw error
  } finally {
    await returnCoverLookupLease(services.sql, lease, { freeAtMs: clock() + pauseMs, failures })
  }
}

/** Returns why the lookup failed; null if it did not. */
async function lookUp(
  services: EngineServices,
  source: CoverSource,
  song: SongToLookUp,
  clock: () => number,
  signal: AbortSignal
): Promise<LookupFault | null> {
  const { sql } = services
  const run = (limited: AbortSignal) => findCover(source, song, limited)
  try {
    const cover = await withAbortTimeout(signal, timeoutMs, run, createTimeoutFault)
    const ttlMs = withJitter(cover ? foundTtlMs : notFoundTtlMs)
    if (await storeLookupResult(sql, song, cover, clock() + ttlMs))
      await showCover(services, song, clock(), signal)
    return null
  } catch (error) {
    const isOfService = error instanceof LookupFault
    if (signal.aborted || isStoreAway(error)) throw error
    const failures = song.failures + 1
    const isLast = failures >= maxFailures
    const ttlMs = isLast ? notFoundTtlMs : songBackoffMs * 2 ** song.failures
    await storeLookupFailure(sql, song, {
      dueAtMs: clock() + withJitter(ttlMs),
      failures: isLast ? 0 : failures
    })
    if (isOfService) return error
    // Only this song: the others are looked up without a pause.
    services.log.error(
      { err: error, artist: song.artist, title: song.title },
      'cover not looked up; retrying'
    )
    return null
  }
}

const createTimeoutFault = () => new LookupFault('The services did not answer in time.')

/** The pause of all lookups after this many failures in a row. */
const pauseAfter = (failures: number): number =>
  withJitter(Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(failures - 1, 10)))

/** Logs the first failure in a row. */
function reportFault(
  { log }: EngineServices,
  { failures }: CoverLookupLease,
  { message }: LookupFault,
  pauseMs: number
) {
  if (failures === 0) log.warn({ reason: message, pauseMs }, 'cover lookup failed; retrying')
}

/** Publishes the stations that show the song. */
async function showCover(services: EngineServices, song: SongToLookUp, nowMs: number, signal: AbortSignal) {
  const stationIds = await findStationsPlaying(services.sql, song, nowMs)
  const stations = stationIds.map(stationId => ({ stationId }))
  const show = ({ stationId }: { stationId: number }) =>
    changeStation(services, stationId, async ({ tx, mark }) => {
      const { isPlayed, isNext } = await findPartsShowing(tx, stationId, song)
      if (isPlayed) mark(['playback'])
      if (isNext) mark(['queue'])
    })
  await forEachStation(services, 'covers', stations, show, { signal })
}
