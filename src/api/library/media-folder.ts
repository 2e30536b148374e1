import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'

import type { Config } from '../../config.ts'
import type { Tx } from '../../db/sql.ts'
import { resolveExisting, resolveInside } from '../../runtime/contained-files.ts'
import { allowedRoots } from '../../storage/record.ts'

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

/** The real path of a media folder; null if links lead it out of the folders that storage may use. */
export function resolveMediaFolder(folder: string, config: Config): Promise<string | null> {
  return resolveInside(folder, allowedRoots(config))
}

/**
 * The path at which another program of this machine finds a song; null if a link leads it out of the media
 * folder, or if it is not a regular file. `folder` is null where that is not on this machine. The file need
 * not exist: this machine may not have it.
 */
export async function locateSong(
  path: string,
  folder: string | null,
  config: Config
): Promise<string | null> {
  const place = await resolveSong(path, folder, config)
  if (place === null) return null
  const stats = await stat(place).catch(() => null)
  return stats === null || stats.isFile() ? place : null
}

/**
 * Imports store real paths, so an absolute one outside the media folder that leads elsewhere was replaced by
 * a link later.
 */
async function resolveSong(path: string, folder: string | null, config: Config): Promise<string | null> {
  if (isAbsolute(path) && (await resolveExisting(path)) === path) return path
  if (folder === null || (await resolveMediaFolder(folder, config)) === null) return null
  const file = resolve(folder, path)
  return (await resolveInside(file, [folder])) === null ? null : file
}
