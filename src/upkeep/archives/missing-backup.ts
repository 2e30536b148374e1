import * as v from 'valibot'

import { formatUtcMinute, raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'

const missingAlertKey = 'backup-missing'
export const backupFailedAlertKey = 'backup-failed'

/** The settings with the time of the last scheduled backup that was written, and with the next one. */
const lastSetting = 'last scheduled backup'
const nextSetting = 'next scheduled backup'

const hourMs = 3_600_000
/** A backup may be late by a quarter of the time until the next one, within these limits. */
const minMarginMs = hourMs
const maxMarginMs = 12 * hourMs

const next = v.object({
  /** Another one begins anew. */
  expression: v.string(),
  dueAtMs: v.number(),
  marginMs: v.number()
})

/** When the backups of a schedule are due. */
export interface BackupSchedule {
  readonly expression: string
  readonly nextTimes: (count: number) => readonly Date[]
}

/** Notes that a scheduled backup was written. */
export async function recordScheduledBackup(sql: Sql): Promise<void> {
  await sql`
    insert into settings (name, value) values (${lastSetting}, clock_timestamp()::text)
    on conflict (name) do update set value = excluded.value`
  await resolveAlert(sql, missingAlertKey)
}

/** Resolves the alerts of backups that are not scheduled any more. */
export async function resolveBackupAlerts(sql: Sql): Promise<void> {
  await sql`delete from settings where name = ${nextSetting}`
  for (const key of [missingAlertKey, backupFailedAlertKey]) await resolveAlert(sql, key)
}

/** Milliseconds since the last scheduled backup that was written; null if there is none. */
export async function readScheduledBackupAgeMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ageMs: number }[]>`
    select (extract(epoch from clock_timestamp() - value::timestamptz) * 1000)::float8 as "ageMs"
    from settings where name = ${lastSetting}`
  return row?.ageMs ?? null
}

/**
 * Notifies operators once if a backup was due and is not written within a margin: no workers process ran at its time,
 * it was killed, or it hangs. The next backup resolves it.
 */
export async function updateMissingBackupAlert(sql: Sql, schedule: BackupSchedule): Promise<void> {
  const [row] = await sql<{ nowMs: number; next: string | null }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (select value from settings where name = ${nextSetting}) as next`
  if (!row) return
  const known = row.next === null ? null : v.parse(v.pipe(v.string(), v.parseJson(), next), row.next)
  const ageMs = await readScheduledBackupAgeMs(sql)
  const writtenAtMs = ageMs === null ? -Infinity : row.nowMs - ageMs
  if (known === null || known.expression !== schedule.expression || writtenAtMs >= known.dueAtMs) {
    await noteNext(sql, schedule)
    await resolveAlert(sql, missingAlertKey)
  } else if (row.nowMs > known.dueAtMs + known.marginMs)
    await raiseAlert(sql, {
      key: missingAlertKey,
      title: 'A scheduled backup is missing',
      body: `It was due at ${formatUtcMinute(known.dueAtMs)}, and none has been written since. Check that the workers run at its time, and their log.`,
      type: 'danger',
      source: 'storage'
    })
}

async function noteNext(sql: Sql, { expression, nextTimes }: BackupSchedule): Promise<void> {
  const [due, following] = nextTimes(2).map(run => run.getTime())
  if (due === undefined) return
  const periodMs = (following ?? Infinity) - due
  const marginMs = Math.min(Math.max(periodMs / 4, minMarginMs), maxMarginMs)
  const value = JSON.stringify({ expression, dueAtMs: due, marginMs })
  await sql`
    insert into settings (name, value) values (${nextSetting}, ${value})
    on conflict (name) do update set value = excluded.value`
}
