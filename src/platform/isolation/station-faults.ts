import { failingStationsMetric, stationFailuresMetric } from '../metrics/stations.ts'
import { ApiError } from '../runtime/errors.ts'
import { type Logger, openLineLimit } from '../runtime/log.ts'
import { describeError, isStoreAway } from '../runtime/store-errors.ts'

/** Work that is done for each station, and what an operator reads if it fails for one of them. */
export const stationTasks = {
  songs: 'Its songs are not ended on time.',
  wake: 'It does not start to play.',
  interrupts: 'Its playout does not get interrupting songs.',
  timeouts: 'Its playout is not noticed to be away.',
  refill: 'Its queue is not refilled.',
  preload: 'Its library cannot be loaded.',
  revision: 'Changes of custom fields are not shown.',
  publish: 'Its state is not published.',
  show: 'Its newest state cannot be shown.',
  render: 'Its state cannot be rendered for listeners.',
  counts: 'Its listener counts are not stored.',
  counts_read: 'Its listener counts cannot be read.',
  count_events: 'Its web hooks do not get changes of the listener count.',
  sessions: 'Sessions of its listeners are not stored.',
  hls: 'Its HLS listeners are not counted.',
  polls: 'Its streaming server is not polled.',
  poll_results: 'Results of polls of its streaming server are not stored.',
  status: 'Its web hooks do not get online and offline events.',
  webhooks: 'Its web hooks are not called.',
  requests: 'Its requests do not expire.',
  remote_lists: 'Its remote playlists are not updated.',
  covers: 'Covers that were found are not shown.',
  removal: 'The rows of the deleted station are not removed.',
  time_zone: 'Its time zone is unknown, and is read as UTC.'
} as const

export type StationTask = keyof typeof stationTasks

/** Work that keeps failing for a station. */
export interface LastingFault {
  readonly stationId: number
  readonly task: StationTask
  /** The message of the newest error. */
  readonly reason: string
}

/** What fails for single stations in this process. */
export interface StationFaults {
  /**
   * Runs `work` for one station, and returns whether it succeeded. Notes what it throws. Rejects if a store is away, and
   * with what `work` throws once `signal` is aborted. `part`: see `note`.
   */
  readonly isolate: (
    task: StationTask,
    stationId: number,
    work: () => Promise<unknown>,
    options?: { readonly signal?: AbortSignal | undefined; readonly part?: number }
  ) => Promise<boolean>
  /** Counts and logs that work for a station failed. `part`: the id of what it was for, if the station has several. */
  readonly note: (task: StationTask, stationId: number, error: unknown, part?: number) => void
  /** Notes that the work has succeeded. */
  readonly clear: (task: StationTask, stationId: number, part?: number) => void
  /** The stations for which the work failed, and is tried again a few seconds later. */
  readonly pausedIds: (task: StationTask) => number[]
  /** The stations for which the work failed the last time. */
  readonly failingIds: (task: StationTask) => number[]
  /** What has been failing for more than five seconds. */
  readonly lasting: () => LastingFault[]
}

interface Entry {
  readonly task: StationTask
  readonly stationId: number
  /** 0: it has succeeded since. The entry is kept, so that work that often fails is not logged each time. */
  failures: number
  sinceMs: number
  lastMs: number
  failureLoggedMs: number
  successLoggedMs: number
  reason: string
}

/** The same work of a station is logged once in this time. */
const logIntervalMs = 10 * 60_000
/** The second try follows at once, later ones after up to this time: an outage may be over. */
const maxPauseMs = 3_000
const lastingMs = 5_000
/** What was not tried again for this long counts as working, such as work of a deleted station. */
const forgottenMs = 5 * 60_000
const maxEntries = 10_000

/** Opens the record of a process, which its metrics show. `clock` returns milliseconds. */
export function openStationFaults(log: Logger, clock: () => number = () => performance.now()): StationFaults {
  const entries = new Map<string, Entry>()
  const mayLog = openLineLimit(leftOut =>
    log.error({ left_out: leftOut }, 'failures of single stations: lines left out')
  )

  const failing = () => [...entries.values()].filter(({ failures }) => failures > 0)
  failingStationsMetric.read = () => new Set(failing().map(({ stationId }) => stationId)).size

  function find(task: StationTask, stationId: number, part: number): Entry {
    const key = `${task} ${stationId} ${part}`
    const known = entries.get(key)
    if (known) return known
    const never = { failureLoggedMs: -Infinity, successLoggedMs: -Infinity }
    const entry = { task, stationId, failures: 0, sinceMs: 0, lastMs: 0, reason: '', ...never }
    if (entries.size < maxEntries) entries.set(key, entry)
    return entry
  }

  function note(task: StationTask, stationId: number, error: unknown, part = 0): void {
    const nowMs = clock()
    const entry = find(task, stationId, part)
    if (entry.failures === 0) entry.sinceMs = nowMs
    entry.failures++
    entry.lastMs = nowMs
    entry.reason = describeError(error)
    stationFailuresMetric.inc({ task })
    if (nowMs - entry.failureLoggedMs < logIntervalMs) return
    entry.failureLoggedMs = nowMs
    const { failures } = entry
    if (mayLog(nowMs))
      log.error(
        { err: error, station: stationId, task, failures },
        'work for a station failed; the others go on'
      )
  }

  function clear(task: StationTask, stationId: number, part = 0): void {
    const entry = entries.get(`${task} ${stationId} ${part}`)
    if (entry === undefined || entry.failures === 0) return
    const nowMs = clock()
    const { failures } = entry
    entry.failures = 0
    if (nowMs - entry.successLoggedMs < logIntervalMs) return
    entry.successLoggedMs = nowMs
    if (mayLog(nowMs)) log.info({ station: stationId, task, failures }, 'work for a station succeeds again')
  }

  return {
    isolate: async (task, stationId, work, { signal, part } = {}) => {
      try {
        await work()
        clear(task, stationId, part)
        return true
      } catch (error) {
        if (signal?.aborted || isStoreAway(error)) throw error
        // It was deleted meanwhile.
        if (error instanceof ApiError && error.kind === 'not-found') clear(task, stationId, part)
        else note(task, stationId, error, part)
        return false
      }
    },
    note,
    clear,
    pausedIds: task => {
      const nowMs = clock()
      return failing().flatMap(({ task: of, stationId, failures, lastMs }) =>
        of === task && failures > 1 && nowMs - lastMs < Math.min(maxPauseMs, 500 * 2 ** (failures - 1))
          ? stationId
          : []
      )
    },
    failingIds: task => failing().flatMap(({ task: of, stationId }) => (of === task ? stationId : [])),
    lasting: () => {
      const nowMs = clock()
      for (const [key, entry] of entries) {
        if (nowMs - entry.lastMs > forgottenMs) entry.failures = 0
        if (nowMs - entry.lastMs > logIntervalMs) entries.delete(key)
      }
      return failing()
        .filter(({ sinceMs, lastMs }) => lastMs - sinceMs >= lastingMs)
        .map(({ stationId, task, reason }) => ({ stationId, task, reason }))
    }
  }
}
