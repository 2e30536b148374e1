import { dayMs, hourMs, minuteMs, getTimeZone } from '../../../model/autodj/time-zone.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { insertRows } from '../insert-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import { readUsableCount, readUsableTime } from '../usable-values.ts'

/** The default of `LISTENER_RETENTION_DAYS`. */
const retentionDays = 400

type ListenerMinute = {
  readonly station_id: number
  readonly minute: number
  readonly total: number
  readonly unique: number
  readonly most: number
  readonly fewest: number
}

/**
 * Takes the listener counts over time. AzuraCast keeps those of hours for two weeks and those of days forever: the days
 * before the first hour of a station are taken, and all hours. Their times are what the clock of the station showed.
 */
export async function migrateListenerMinutes(migration: AzuracastMigration): Promise<void> {
  const { isDryRun, report, stations, sql } = migration
  const firstHours = new Map<number, number>()
  for await (const { row, read } of readSourceRows(migration, 'analytics')) {
    const stationId = read.number(row, 'station_id')
    const atMs = readUsableTime(read, row, 'moment', () => {})
    if (read.text(row, 'type') === 'hour' && atMs !== null)
      firstHours.set(stationId, Math.min(firstHours.get(stationId) ?? Infinity, atMs))
  }
  const ends = new Map<number, number[]>()
  let hasNew = false
  await migrateSourceTable<ListenerMinute>(migration, {
    table: 'analytics',
    title: 'listener counts of hours and days',
    convert(row, read, sourceId) {
      const sourceStation = read.number(row, 'station_id')
      const station = stations.get(sourceStation)
      if (!station) return null
      const onProblem = (problem: string) =>
        report.leave(
          'values of listener counts that are not usable',
          `${station.name}: analytics ${sourceId}: ${problem}`
        )
      const atMs = readUsableTime(read, row, 'moment', () => {})
      if (atMs === null) {
        onProblem(`moment ${read.text(row, 'moment') ?? 'NULL'}, so it is left out`)
        return null
      }
      const isDay = read.text(row, 'type') === 'day'
      const firstHourMs = firstHours.get(sourceStation) ?? Infinity
      // The hours of this day are known.
      if (isDay && atMs + dayMs > firstHourMs) return null
      const most = readUsableCount(read, row, 'number_max', onProblem)
      const total = readUsableCount(read, row, 'number_avg', onProblem)
      const minute = localToUtcMinute(station.timezone, atMs)
      if (atMs < Date.now() - retentionDays * dayMs)
        migration.report.advise(
          `LISTENER_RETENTION_DAYS=0 (listener counts of more than ${retentionDays} days ago are removed otherwise)`
        )
      const end = localToUtcMinute(station.timezone, atMs + (isDay ? dayMs : hourMs))
      if (total > 0) getOrAdd(ends, station.id).push(end)
      return {
        station_id: station.id,
        minute,
        total,
        unique: readUsableCount(read, row, 'number_unique', onProblem),
        most: Math.max(most, total),
        fewest: Math.min(readUsableCount(read, row, 'number_min', onProblem), total)
      }
    },
    async write(tx, minutes) {
      hasNew = true
      await insertRows(tx, 'listener_minutes', minutes, { station_id: 'stations' })
    }
  })
  if (!hasNew || isDryRun) return
  await sql.begin(async tx => {
    for (const [stationId, minutes] of ends) await endCounts(tx, stationId, minutes)
  })
}

function getOrAdd(ends: Map<number, number[]>, stationId: number): number[] {
  const known = ends.get(stationId) ?? []
  ends.set(stationId, known)
  return known
}

/** The minute (UTC) of a local time, which is given as if it were UTC. An hour that the clock skips is the next one. */
export function localToUtcMinute(timezone: string, localMs: number): number {
  const day = Math.floor(localMs / dayMs)
  const minutes = Math.floor((localMs - day * dayMs) / minuteMs)
  const hhmm = Math.floor(minutes / 60) * 100 + (minutes % 60)
  return Math.floor(getTimeZone(timezone).instant(day, hhmm, 'first') / minuteMs)
}

/** A count holds until the next one, so one that none follows in time is followed by 0. */
async function endCounts(tx: Tx, stationId: number, minutes: readonly number[]): Promise<void> {
  await tx`
    insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
    select ${stationId}, minute, 0, 0, 0, 0 from unnest(${[...minutes]}::int[]) minute
    on conflict do nothing`
}
