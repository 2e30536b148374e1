import { pino } from 'pino'

import { advance, type AdvanceRequest, type AdvanceOutcome } from '../../src/engine/advance.ts'
import { openIdentityCache } from '../../src/engine/listeners/identity-cache.ts'
import { openLibraryCache } from '../../src/engine/queue/library-cache.ts'
import { publishStation } from '../../src/engine/repair-states.ts'
import type { EngineServices } from '../../src/engine/services.ts'
import type { StationState } from '../../src/model/station/state.ts'
import { openStationFaults } from '../../src/platform/isolation/station-faults.ts'
import { type Coalescer, openCoalescer } from '../../src/platform/runtime/coalesce.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { enqueueDeliveries, openDeliverQueue } from '../../src/stores/jobs/queues.ts'
import { openScheduledPlays } from '../../src/stores/jobs/scheduled-plays.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openJobRedis, openRedis, type RedisClient } from '../../src/stores/redis/connection.ts'
import { ownStateSchema } from '../../src/stores/redis/state-schema.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { openOutbox } from '../../src/webhooks/outbox.ts'
import { filterHookTriggers } from '../../src/webhooks/types/hook-types.ts'

/** A record of failing stations that logs nothing. */
export const openSilentFaults = () => openStationFaults(pino({ level: 'silent' }))

interface TestedParts {
  readonly redis: RedisClient
  /** Publications in flight, by station. */
  readonly publications: Coalescer<number, StationState | null>
}

/** The services of the engine, on the database and Redis of a test. */
export async function openPlayout(
  sql: Sql,
  redisUrl: string
): Promise<EngineServices & AsyncDisposable & TestedParts> {
  const place = await resolveRedisPlace(redisUrl)
  const redis = openRedis(place, 'test')
  const producer = openJobRedis(place, 'test-jobs')
  await Promise.all([redis.connect(), producer.connect()])
  const log = pino({ level: 'silent' })
  const deliveries = openDeliverQueue(producer)
  const publications: TestedParts['publications'] = openCoalescer()
  const services: EngineServices = {
    sql,
    redis,
    scheduledPlays: openScheduledPlays(redis),
    deliveries,
    dispatchDeliveries: webhookIds => enqueueDeliveries(deliveries, webhookIds, log),
    processes: { schema: () => ownStateSchema },
    libraries: openLibraryCache(),
    identities: openIdentityCache(),
    publishNewest: stationId => publications.run(stationId, () => publishStation(services, stationId)),
    allStations: openCoalescer(),
    outbox: openOutbox(filterHookTriggers),
    stationFaults: openStationFaults(log),
    log
  }
  return {
    ...services,
    redis,
    publications,
    async [Symbol.asyncDispose]() {
      await deliveries.close()
      producer.disconnect()
      redis.disconnect()
    }
  }
}

/**
 * Advances a station. Returns the outcome and the state that is stored afterwards, null if Redis has none.
 */
export async function advanceAndRead(
  services: EngineServices,
  request: AdvanceRequest
): Promise<{ outcome: AdvanceOutcome; state: StationState | null }> {
  const { outcome } = await advance(services, request)
  if (services.redis.status !== 'ready') return { outcome, state: null }
  const [state = null] = await readStationStates(services.redis, [request.stationId])
  return { outcome, state }
}
