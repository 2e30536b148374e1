import * as v from 'valibot'

import type { Sql } from '../../stores/db/sql.ts'

/** Processes report themselves every 5.5 seconds at most, which may take 4. */
const aliveSeconds = 10
/** A supervisor starts a process again within this time. */
const startsSeconds = 120

const settingsSchema = v.object({
  BASE_URL: v.string(),
  HOST: v.string(),
  PORT: v.number(),
  TRUSTED_PROXIES: v.array(v.string()),
  METRICS_HOST: v.optional(v.string()),
  METRICS_PORT: v.optional(v.number())
})

/** Variables that a process has registered. */
export type ProcessSettings = v.InferOutput<typeof settingsSchema>

/** The processes of a kind. */
export interface ProcessesOfKind {
  readonly kind: string
  /** The releases that run, and how many processes are ready. */
  readonly versions: readonly string[]
  readonly ready: number
  readonly starting: number
  /** How many have ended before they were ready, in the last two minutes. */
  readonly failedStarts: number
  readonly seenSecondsAgo: number
  /** Those of processes that run or try to, the newest first; none of older releases. */
  readonly settings: readonly ProcessSettings[]
}

/** Reads what processes have registered. A database without the table or its newest columns has none. */
export async function readRegisteredProcesses(sql: Sql): Promise<readonly ProcessesOfKind[]> {
  const [table] = await sql<{ isThere: boolean }[]>`
    select exists (select from information_schema.columns
      where table_schema = current_schema() and table_name = 'processes' and column_name = 'settings') as "isThere"`
  if (!table?.isThere) return []
  const rows = await sql<(Omit<ProcessesOfKind, 'settings'> & { settings: unknown[] | null })[]>`
    select kind, count(*) filter (where is_alive and is_ready)::int as ready,
      count(*) filter (where is_alive and not is_ready)::int as starting,
      count(*) filter (where not is_alive and not is_ready and is_recent)::int as "failedStarts",
      coalesce(array_agg(distinct version order by version) filter (where is_alive and is_ready), '{}') as versions,
      extract(epoch from clock_timestamp() - max(seen_at))::int as "seenSecondsAgo",
      jsonb_agg(settings order by started_at desc) filter (where settings is not null and (is_alive or is_recent and not is_ready))
        as settings
    from (select *, seen_at > clock_timestamp() - make_interval(secs => ${aliveSeconds}) as is_alive,
        seen_at > clock_timestamp() - make_interval(secs => ${startsSeconds}) as is_recent from processes) p
    where kind in ('server', 'workers') group by kind order by kind`
  return rows.map(row => ({
    ...row,
    settings: (row.settings ?? []).flatMap(each => {
      const parsed = v.safeParse(settingsSchema, each)
      return parsed.success ? [parsed.output] : []
    })
  }))
}
