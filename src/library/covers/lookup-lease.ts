import type { Sql } from '../../stores/db/sql.ts'

/** The right of one process to look up a cover, until a time (Unix milliseconds). */
export interface CoverLookupLease {
  readonly untilMs: number
  /** Failed lookups in a row before this one. */
  readonly failures: number
}

/** Takes the lease for `leaseMs`. Returns null while another process has it, or none may have it. */
export async function acquireCoverLookupLease(
  sql: Sql,
  nowMs: number,
  leaseMs: number
): Promise<CoverLookupLease | null> {
  const [lease = null] = await sql<CoverLookupLease[]>`
    insert into cover_lookup_lease as l (leased_until_ms) values (${nowMs + leaseMs})
    on conflict (is_single) do update set leased_until_ms = excluded.leased_until_ms
      where l.leased_until_ms <= ${nowMs}
    returning leased_until_ms as "untilMs", failures`
  return lease
}

/** Returns the lease. No process can take it until `freeAtMs`. If it has expired, nothing changes. */
export async function returnCoverLookupLease(
  sql: Sql,
  lease: CoverLookupLease,
  { freeAtMs, failures }: { readonly freeAtMs: number; readonly failures: number }
): Promise<void> {
  await sql`
    update cover_lookup_lease set leased_until_ms = ${freeAtMs}, failures = ${failures}
    where leased_until_ms = ${lease.untilMs}`
}
