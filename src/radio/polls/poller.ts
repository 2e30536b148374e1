import { setMaxListeners } from 'node:events'

import type { EngineServices } from '../../engine/services.ts'
import { forStationsTogether } from '../../platform/isolation/for-each-station.ts'
import {
  pollDurationMetric,
  pollsMetric as counts,
  pollsInFlightMetric
} from '../../platform/metrics/polls.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import type { DescribeListener } from '../listener-details.ts'
import { openStreamFetcher } from '../streaming-servers.ts'
import { openPollLeaseChecks } from './lease-checks.ts'
import { type LeasedPoll, leasePolls, type PollResult, storePollResults } from './poll-rows.ts'
import { allowedServerNetworks } from './poll-servers.ts'
import { type PollDeps, runPoll } from './poll.ts'

export interface PollServices extends EngineServices {
  readonly config: { readonly WEBHOOK_ALLOWED_NETWORKS: readonly string[] }
  readonly secrets: Pick<Secrets, 'open'>
  readonly describeListener: DescribeListener
}

const maxInFlight = 200
/** Polls that take longer than a second only count toward the first limit. */
const maxFast = 64
const slowAfterMs = 1_000
/** Database connections for storing findings. */
const maxWrites = 4

/** Polls streaming servers; any number of processes may. Aborting `signal` cancels the polls in flight. */
export function openPoller(services: PollServices, signal: AbortSignal) {
  const networks = allowedServerNetworks(services.config.WEBHOOK_ALLOWED_NETWORKS)
  const deps: PollDeps = {
    ...services,
    fetchFromStation: openStreamFetcher(networks.station),
    fetchFromRemote: openStreamFetcher(networks.remote),
    isLeased: openPollLeaseChecks(services.sql),
    writes: openFairSemaphore({ total: maxWrites })
  }
  // Each poll in flight adds a listener.
  setMaxListeners(0, signal)
  const inFlight = new Set<Promise<void>>()
  const results: PollResult[] = []
  const fast = new Set<LeasedPoll>()
  pollsInFlightMetric.read = () => inFlight.size

  async function run(poll: LeasedPoll, clock: () => number): Promise<void> {
    fast.add(poll)
    const startedAtMs = performance.now()
    const timer = setTimeout(() => fast.delete(poll), slowAfterMs)
    const pollOnce = async () => {
      const result = await runPoll(deps, poll, clock, signal)
      if (result) results.push(result)
      if (result) counts[result.answeredAtMs === null ? 'failed' : 'answered']++
      pollDurationMetric.observe((performance.now() - startedAtMs) / 1_000)
    }
    try {
      const options = { signal, part: poll.id }
      const isStored = await services.stationFaults.isolate('polls', poll.stationId, pollOnce, options)
      if (!isStored) counts.not_stored++
    } catch (error) {
      counts.not_stored++
      if (!signal.aborted)
        services.log.error({ err: error, station: poll.stationId }, 'poll not stored; retrying')
    } finally {
      clearTimeout(timer)
      fast.delete(poll)
    }
  }

  /** Results that are not stored are lost, and their servers polled again when the lease expires. */
  async function storeResults(): Promise<void> {
    const finished = results.splice(0)
    const stationIds = [...new Set(finished.map(({ stationId }) => stationId))]
    await forStationsTogether(services, 'poll_results', stationIds, ids => {
      const isIncluded = new Set(ids)
      return storePollResults(
        services.sql,
        finished.filter(({ stationId }) => isIncluded.has(stationId))
      )
    })
  }

  return {
    /**
     * Stores the results of finished polls and starts polls that are due at this time (Unix milliseconds), up
     * to the concurrency limits. Returns how many it started, and whether a limit was reached.
     */
    async startDue(nowMs: number): Promise<{ started: number; isFull: boolean }> {
      signal.throwIfAborted()
      await storeResults()
      const room = Math.min(maxFast - fast.size, maxInFlight - inFlight.size)
      if (room <= 0) return { started: 0, isFull: true }
      const polls = await leasePolls(services.sql, nowMs, room)
      const fromMs = performance.now()
      const clock = () => Math.round(nowMs + performance.now() - fromMs)
      for (const poll of polls) {
        const running = run(poll, clock).finally(() => inFlight.delete(running))
        inFlight.add(running)
      }
      return { started: polls.length, isFull: polls.length === room }
    },
    /** Waits for the polls in flight and stores their results. */
    async drain(): Promise<void> {
      await Promise.all(inFlight)
      await storeResults()
    }
  }
}
