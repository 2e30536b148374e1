import type { Processes } from '../db/processes.ts'
import type { Sql } from '../db/sql.ts'
import type { AdvanceQueue, DeliverQueue } from '../jobs/queues.ts'
import type { RedisClient } from '../redis/connection.ts'
import type { Logger } from '../runtime/log.ts'
import type { Publications } from './publish.ts'
import type { Libraries } from './queue/libraries.ts'

/** What the engine works with. */
export interface PlayoutServices {
  readonly sql: Sql
  readonly redis: RedisClient
  readonly advances: AdvanceQueue
  readonly deliveries: DeliverQueue
  readonly processes: Processes
  readonly libraries: Libraries
  readonly publications: Publications
  readonly log: Logger
}
