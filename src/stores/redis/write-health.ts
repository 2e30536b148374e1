import { refusedWritesMetric } from '../../platform/metrics/redis.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import type { Outages } from '../../platform/runtime/outages.ts'
import { isRedisErrorReply, needsNewConnection, describeError } from '../../platform/runtime/store-errors.ts'
import type { RedisClient } from './connection.ts'
import { probeWrites } from './shard-commands.ts'

const intervalMs = 1_000
/** Longer than a failover and the connections that follow it take. */
const reportAfterMs = 10_000

/** Whether Redis takes the writes of this process. */
export type WriteHealth = ReturnType<typeof watchWriteHealth>

interface Refusal {
  readonly sinceMs: number
  /** Whether a new connection may heal it: the node was demoted, has lost its replicas or its cluster. */
  readonly isOfNode: boolean
  readonly wasReported: boolean
}

/**
 * Checks every second whether Redis takes writes: one that is full, was demoted, or has taken away permissions answers
 * reads and pings. Logs a line if that lasts for ten seconds. A Redis that does not answer is noticed by others.
 */
export function watchWriteHealth(
  redis: RedisClient,
  { log, outages }: { readonly log: Pick<Logger, 'error'>; readonly outages: Pick<Outages, 'begin'> }
) {
  let writableAtMs = 0
  let refusal: Refusal | null = null
  refusedWritesMetric.read = () => (refusal === null ? 0 : (performance.now() - refusal.sinceMs) / 1_000)

  async function check(): Promise<void> {
    const startedMs = engineTimeMs()
    const fault: unknown = await probeWrites(redis).then(
      () => null,
      (error: unknown) => error
    )
    if (fault === null) {
      writableAtMs = startedMs
      refusal = null
    } else if (isRedisErrorReply(fault)) noteRefusal(fault)
  }

  function noteRefusal(fault: unknown): void {
    const sinceMs = refusal?.sinceMs ?? performance.now()
    const isOfNode = needsNewConnection(fault)
    outages.begin('redis', fault)
    const isLong = performance.now() - sinceMs >= reportAfterMs
    if (isLong && refusal?.wasReported === false)
      log.error(
        { reason: describeError(fault), seconds: secondsSince(sinceMs) },
        'redis has refused writes for more than ten seconds; now playing does not change'
      )
    refusal = { sinceMs, isOfNode, wasReported: isLong }
  }

  const timer = setInterval(() => void check(), intervalMs)
  return {
    /** Checks now. Never rejects. */
    check,
    /** Until when Redis is known to have taken writes (Unix milliseconds); 0 before the first check. */
    writableAtMs: () => writableAtMs,
    isRefusing: () => refusal !== null,
    /** Whether only the node of this process refuses: a server elsewhere may reach another. */
    isNodeRefusing: () => refusal?.isOfNode === true,
    stop: () => clearInterval(timer)
  }
}

const secondsSince = (sinceMs: number) => Math.round((performance.now() - sinceMs) / 1_000)
