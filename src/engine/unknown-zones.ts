import { findTimeZone } from '../model/autodj/time-zone.ts'
import { literalLimit } from '../stores/db/batches.ts'
import type { EngineServices } from './services.ts'

const maxStations = 500

/**
 * Notes the stations whose time zone this Node does not know, and which it therefore reads as UTC: the zone may have
 * been written by a release or a Node with other time zone data.
 */
export async function recordUnknownZones({
  sql,
  stationFaults
}: Pick<EngineServices, 'sql' | 'stationFaults'>): Promise<void> {
  const names = await sql<{ timezone: string }[]>`
    select timezone from stations where deleted_at is null group by timezone`
  const unknown = names.map(({ timezone }) => timezone).filter(name => findTimeZone(name) === null)
  const stations = await sql<{ id: number; timezone: string }[]>`
    select id, timezone from stations where timezone = any(${unknown}::text[]) and deleted_at is null
    order by id ${literalLimit(sql, maxStations)}`
  const noted = new Set(stations.map(({ id }) => id))
  for (const id of stationFaults.failingIds('time_zone'))
    if (!noted.has(id)) stationFaults.clear('time_zone', id)
  for (const { id, timezone } of stations)
    stationFaults.note('time_zone', id, new Error(`unknown time zone ${JSON.stringify(timezone)}`))
}
