import { forEachConcurrently } from '../runtime/concurrency.ts'
import { isStoreAway } from '../runtime/store-errors.ts'
import type { StationFaults, StationTask } from './station-faults.ts'

/*
 * Every loop over stations uses these functions, or `isolate` of `StationFaults`, so that a station that fails (a value in
 * its rows that nobody expected, for instance) affects no other one. An error that concerns all stations, because a store
 * is away, still ends the loop.
 */

interface Isolation {
  readonly stationFaults: StationFaults
}

interface LoopOptions {
  /** Stations at a time; 4 by default. */
  readonly concurrency?: number
  /** The loop rejects between two stations once it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls `work` for each station in order. One for which it throws is noted, and the loop goes on; one that keeps
 * failing is left out for up to three seconds. Returns the number of stations for which `work` succeeded. Rejects if a
 * store is away.
 */
export async function forEachStation<Item extends { readonly stationId: number }>(
  { stationFaults }: Isolation,
  task: StationTask,
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  { concurrency = 4, signal }: LoopOptions = {}
): Promise<number> {
  const paused = new Set(stationFaults.pausedIds(task))
  const tried = items.filter(({ stationId }) => !paused.has(stationId))
  let succeeded = 0
  const run = async (item: Item) => {
    if (await stationFaults.isolate(task, item.stationId, () => work(item), { signal })) succeeded++
  }
  await forEachConcurrently(tried, concurrency, run, signal)
  return succeeded
}

/**
 * Calls `work`, which handles several stations at once, with all of them. If it fails, it is called with each half,
 * until the stations that fail are found and noted. `work` must be a transaction or repeatable. Returns the results of
 * the groups.
 */
export async function forStationsTogether<Result>(
  { stationFaults }: Isolation,
  task: StationTask,
  stationIds: readonly number[],
  work: (stationIds: readonly number[]) => Promise<Result>
): Promise<Result[]> {
  const failing = new Set(stationFaults.failingIds(task))
  const run = async (ids: readonly number[]): Promise<Result[]> => {
    const [first, ...others] = ids
    if (first === undefined) return []
    try {
      const result = await work(ids)
      for (const id of ids) if (failing.has(id)) stationFaults.clear(task, id)
      return [result]
    } catch (error) {
      if (isStoreAway(error)) throw error
      if (others.length === 0) {
        stationFaults.note(task, first, error)
        return []
      }
      const half = Math.ceil(ids.length / 2)
      return [...(await run(ids.slice(0, half))), ...(await run(ids.slice(half)))]
    }
  }
  const paused = new Set(stationFaults.pausedIds(task))
  const tried = stationIds.filter(id => !paused.has(id))
  // Those that failed the last time are tried one by one, so that they do not split every group.
  const results = await run(tried.filter(id => !failing.has(id)))
  for (const id of tried) if (failing.has(id)) results.push(...(await run([id])))
  return results
}
