import DataLoader from 'dataloader'

import type { Sql } from '../../stores/db/sql.ts'
import type { LeasedPoll } from './poll-rows.ts'

type Lease = Pick<LeasedPoll, 'id' | 'leasedUntilMs'>

/** Resolves to whether a poll still has its lease: it was neither reset nor leased again. */
export type IsPollLeased = (poll: Lease) => Promise<boolean>

/** Polls that end within this time are checked together, and so their reports reach Redis together. */
const gatherMs = 20
const atMost = 500

/** Opens checks of leases that share statements. */
export function openPollLeaseChecks(sql: Sql): IsPollLeased {
  const nameOf = ({ id, leasedUntilMs }: Lease) => `${id} ${leasedUntilMs}`
  const checks = new DataLoader<Lease, boolean>(
    async leases => {
      const rows = await sql<{ id: number; leasedUntilMs: number }[]>`
        select p.id, p.due_at_ms as "leasedUntilMs" from polls p
        join unnest(${leases.map(({ id }) => id)}::bigint[], ${leases.map(({ leasedUntilMs }) => leasedUntilMs)}::bigint[])
          as x (id, leased) on p.id = x.id and p.due_at_ms = x.leased`
      const valid = new Set(rows.map(nameOf))
      return leases.map(lease => valid.has(nameOf(lease)))
    },
    { cache: false, maxBatchSize: atMost, batchScheduleFn: run => void setTimeout(run, gatherMs) }
  )
  return lease => checks.load(lease)
}
