import type { Redis } from 'ioredis'

import type { Sql } from '../db/sql.ts'
import type { AdvanceQueue } from '../jobs.ts'
import type { Logger } from '../log.ts'

/** What the engine works with. */
export interface PlayoutServices {
  readonly sql: Sql
  readonly redis: Redis
  readonly advances: AdvanceQueue
  readonly log: Logger
}
