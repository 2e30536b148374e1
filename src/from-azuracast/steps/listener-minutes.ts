import type { Tx } from '../../db/sql.ts'
import { insertRows } from '../insert-rows.ts'
import { type Migration, rowsOf, takeTable } from '../migration.ts'

const minutesPerDay = 1_440
const minuteMs = 60_000

type ListenerMinute = {
  readonly station_id: number
  readonly minute: number
  readonly total: number
  readonly unique: number
  readonly most: number
  readonly fewest: number
}

/**
 * Takes the listener counts over time. AzuraCast keeps those of hours for two weeks and those of days forever: the days before
 * the first hour of a station are taken, and all hours.
 */
export async function takeListenerMinutes(migration: Migration): Promise<void> {
  const { isDryRun, stations, sql } = migration
  const firstHours = new Map<number, number>()
  for await (const { row, read } of rowsOf(migration, 'analytics')) {
    const stationId = read.number(row, 'station_id')
    const atMs = read.time(row, 'moment')
    if (read.text(row, 'type') === 'hour' && atMs !== null)
      firstHours.set(stationId, Math.min(firstHours.get(stationId) ?? Infinity, atMs))
  }
  const lastMinutes = new Map<number, number>()
  let hasNew = false
  await takeTable<ListenerMinute>(migration, {
    table: 'analytics',
    title: 'listener counts of hours and days',
    convert(row, read) {
      const sourceStation = read.number(row, 'station_id')
      const station = stations.get(sourceStation)
      const atMs = read.time(row, 'moment')
      if (!station || atMs === null) return null
      const isDay = read.text(row, 'type') === 'day'
      const firstHourMs = firstHours.get(sourceStation) ?? Infinity
      // The hours of this day are known.
      if (isDay && atMs + minutesPerDay * minuteMs > firstHourMs) return null
      const most = Math.max(0, read.number(row, 'number_max'))
      const total = Math.max(0, Math.round(read.number(row, 'number_avg')))
      const minute = Math.floor(atMs / minuteMs)
      lastMinutes.set(station.id, Math.max(lastMinutes.get(station.id) ?? 0, minute))
      return {
        station_id: station.id,
        minute,
        total,
        unique: Math.max(0, read.number(row, 'number_unique')),
        most: Math.max(most, total),
        fewest: Math.min(Math.max(0, read.number(row, 'number_min')), total)
      }
    },
    async write(tx, minutes) {
      hasNew = true
      await insertRows(tx, 'listener_minutes', minutes, { station_id: 'stations' })
    }
  })
  if (!hasNew || isDryRun) return
  await sql.begin(async tx => {
    for (const { id, sourceId } of stations.values())
      await endCounts(tx, id, firstHours.get(sourceId) ?? Infinity, lastMinutes.get(id) ?? 0)
  })
}

/** A count holds until the next one, so one that none follows in time is followed by 0. */
async function endCounts(tx: Tx, stationId: number, firstHourMs: number, lastMinute: number): Promise<void> {
  const firstHour = Number.isFinite(firstHourMs) ? Math.floor(firstHourMs / minuteMs) : lastMinute + 1
  await tx`
    insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
    select ${stationId}, minute + length, 0, 0, 0, 0 from (
      select minute, total, lead(minute) over (order by minute) as next,
        case when minute < ${firstHour}::integer then ${minutesPerDay}::integer else 60 end as length
      from listener_minutes where station_id = ${stationId}
    ) m where minute <= ${lastMinute} and total > 0 and (next is null or next > minute + length)
    on conflict do nothing`
}
