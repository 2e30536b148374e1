import type { Logger } from 'pino'

import { withDeadline } from './deadline.ts'
import { withJitter } from './repeat.ts'
import { isRedisErrorReply, describeError, type StoreName, findUnavailableStore } from './store-errors.ts'

const probeMs = 1_000
const probeDeadlineMs = 5_000

interface Outage {
  readonly sinceMs: number
  /** Whether the store answers, but refuses writes. */
  readonly isRefusal: boolean
  /** Failures of others, which were not logged. */
  failures: number
}

/**
 * The outages of the stores of a process. Everything that needs a store fails while it is away: one line is logged when
 * that begins and one when it ends, instead of a line for each failure.
 */
export type Outages = ReturnType<typeof openOutages>

/** `log` gets the two lines. */
export function openOutages(log: () => Pick<Logger, 'error' | 'info'>) {
  const probes = new Map<StoreName, () => PromiseLike<unknown>>()
  const outages = new Map<StoreName, Outage>()

  /** Waits until the store answers. Jitter, because others wait for it as well. */
  function probeLater(store: StoreName, outage: Outage): void {
    setTimeout(() => {
      const probe = probes.get(store)
      if (probe === undefined) {
        outages.delete(store)
        return
      }
      withDeadline(probeDeadlineMs, 'probing a store', async () => probe()).then(
        () => {
          outages.delete(store)
          const seconds = Math.round((performance.now() - outage.sinceMs) / 1_000)
          log().info(
            { seconds, failures: outage.failures },
            outage.isRefusal ? `${store} takes writes again` : `${store} connection restored`
          )
        },
        () => probeLater(store, outage)
      )
    }, withJitter(probeMs)).unref()
  }

  /** Notes an outage of a store that has a probe. Without one, each failure is logged by whoever meets it. */
  function begin(store: StoreName, error: unknown): void {
    if (outages.has(store) || !probes.has(store)) return
    const isRefusal = isRedisErrorReply(error)
    const outage = { sinceMs: performance.now(), isRefusal, failures: 0 }
    outages.set(store, outage)
    log().error(
      { reason: describeError(error) },
      isRefusal ? `${store} refuses writes` : `${store} connection lost`
    )
    probeLater(store, outage)
  }

  return {
    begin,
    /**
     * Notes a failure. Returns true if it is a consequence of an outage that has been logged, so that nobody has to log
     * it.
     */
    includes: (error: unknown): boolean => {
      const store = findUnavailableStore(error)
      if (store === null) return false
      begin(store, error)
      const outage = outages.get(store)
      if (outage !== undefined) outage.failures++
      return outage !== undefined
    },
    /**
     * Sets how to find out whether a store answers: the probe rejects if it does not. Returns the function that removes
     * it.
     */
    watch: (store: StoreName, probe: () => PromiseLike<unknown>): (() => void) => {
      probes.set(store, probe)
      return () => {
        if (probes.get(store) === probe) probes.delete(store)
      }
    }
  }
}
