import type { StationState } from '../model/station/state.ts'
import type { StationFaults } from '../platform/isolation/station-faults.ts'
import type { Coalescer } from '../platform/runtime/coalesce.ts'
import type { Logger } from '../platform/runtime/log.ts'
import type { Processes } from '../stores/db/processes.ts'
import type { Sql } from '../stores/db/sql.ts'
import type { DeliverQueue } from '../stores/jobs/queues.ts'
import type { ScheduledPlays } from '../stores/jobs/scheduled-plays.ts'
import type { RedisClient } from '../stores/redis/connection.ts'
import type { TriggerFilter } from '../webhooks/outbox.ts'
import type { IdentityCache } from './listeners/identity-cache.ts'
import type { LibraryCache } from './queue/libraries.ts'

/** What the engine works with. */
export interface PlayoutServices {
  readonly sql: Sql
  readonly redis: RedisClient
  readonly scheduledPlays: ScheduledPlays
  readonly deliveries: DeliverQueue
  /** Delivers to a web hook in this process, without a job. Returns false if it cannot; workers only. */
  readonly deliverNow?: (webhookId: number) => boolean
  readonly processes: Processes
  readonly libraries: LibraryCache
  /** Identities of listeners that this process has reported. */
  readonly identities: IdentityCache
  /** Publications in flight, by station. */
  readonly publications: Coalescer<number, StationState | null>
  /** Publications of a fact that all stations show. */
  readonly allStations: Coalescer<'all', void>
  /** Which events a web hook gets. Passed in, because it depends on all types of web hooks. */
  readonly triggersFor: TriggerFilter
  /** What fails for single stations in this process. */
  readonly stationFaults: StationFaults
  readonly log: Logger
}
