import type { Tx } from '../db/sql.ts'

/** The folder below which a station's media lie, null where that is not on a disk of ours. */
export async function mediaFolderOf(tx: Tx, stationId: number): Promise<string | null> {
  const [folder] = await tx<{ path: string }[]>`
    select l.path from stations s join storage_locations l on l.id = s.media_storage_location_id
    where s.id = ${stationId} and l.adapter = 'local'`
  return folder?.path ?? null
}
