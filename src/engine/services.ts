import type { StationState } from '../model/station/state.ts'
import type { StationFaults } from '../platform/isolation/station-faults.ts'
import type { Coalescer } from '../platform/runtime/coalesce.ts'
import type { Logger } from '../platform/runtime/log.ts'
import type { OtherProcesses } from '../stores/db/processes.ts'
import type { Sql } from '../stores/db/sql.ts'
import type { DeliverQueue } from '../stores/jobs/queues.ts'
import type { ScheduledPlays } from '../stores/jobs/scheduled-plays.ts'
import type { RedisClient } from '../stores/redis/connection.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import type { IdentityCache } from './listeners/identity-cache.ts'
import type { LibraryCache } from './queue/library-cache.ts'

/** What the engine works with. */
export interface EngineServices {
  readonly sql: Sql
  readonly redis: RedisClient
  readonly scheduledPlays: ScheduledPlays
  readonly deliveries: DeliverQueue
  /** Starts or enqueues the deliveries that were committed to these web hooks. Never rejects; the relay retries. */
  readonly dispatchDeliveries: (webhookIds: readonly number[]) => Promise<void>
  readonly processes: OtherProcesses
  readonly libraries: LibraryCache
  /** Identities of listeners that this process has reported. */
  readonly identities: IdentityCache
  /** `publishStation`, where calls for a station that come while it runs share one more run. */
  readonly publishNewest: (stationId: number) => Promise<StationState | null>
  /** Publications of a fact that all stations show. */
  readonly allStations: Coalescer<'all', void>
  /** Passed in, because which events a web hook gets depends on all types of web hooks. */
  readonly outbox: Outbox
  /** What fails for single stations in this process. */
  readonly stationFaults: StationFaults
  readonly log: Logger
}
