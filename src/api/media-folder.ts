import { resolve } from 'node:path'

import type { Tx } from '../db/sql.ts'

/** Where the media of a station lie that has no storage location for them. */
export function ownMediaFolder(stationId: number, dataDir: string): string {
  return resolve(dataDir, 'stations', String(stationId), 'media')
}

/** The folder below which a station's media lie, null where that is not on a disk of ours. */
export async function mediaFolderOf(tx: Tx, stationId: number, dataDir: string): Promise<string | null> {
  const [location] = await tx<{ adapter: string; path: string }[]>`
    select l.adapter, l.path from stations s join storage_locations l on l.id = s.media_storage_location_id
    where s.id = ${stationId}`
  if (!location) return ownMediaFolder(stationId, dataDir)
  return location.adapter === 'local' ? location.path : null
}
