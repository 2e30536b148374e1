import { stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'

import { isWebUrl } from '../../platform/outbound/networks.ts'
import { resolveExistingPart, resolveInsideRoots } from '../../platform/runtime/contained-files.ts'
import { listUnicodeForms } from '../../platform/text/unicode-names.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { allowedStorageRoots } from './location-record.ts'

/** The folders in which local storage may lie. */
type Config = Parameters<typeof allowedStorageRoots>[0]

/** The folder of a station's files below DATA_DIR; of media and recordings only without a storage location. */
export function defaultStationFolder(
  stationId: number,
  dataDir: string,
  content: 'media' | 'recordings' | 'config'
): string {
  return resolve(dataDir, 'stations', String(stationId), content)
}

/** The media folder of a station without a storage location. */
export const defaultMediaFolder = (stationId: number, dataDir: string): string =>
  defaultStationFolder(stationId, dataDir, 'media')

/** Returns the folder of a station's media, or null if they are stored remotely. */
export async function findMediaFolder(tx: Tx, stationId: number, dataDir: string): Promise<string | null> {
  const [location] = await tx<{ adapter: string; path: string }[]>`
    select l.adapter, l.path from stations s join storage_locations l on l.id = s.media_storage_location_id
    where s.id = ${stationId}`
  if (!location) return defaultMediaFolder(stationId, dataDir)
  return location.adapter === 'local' ? location.path : null
}

/**
 * The path of a file in the media storage, or null if it is elsewhere: a URL, or a file that was imported from another
 * folder. `folder` is that of local storage.
 */
export function toStoredPath(path: string, folder: string | null): string | null {
  if (isWebUrl(path)) return null
  if (!isAbsolute(path)) return path
  if (folder === null) return null
  const inner = relative(folder, path)
  return inner === '' || inner.startsWith('..') || isAbsolute(inner) ? null : inner
}

/** Returns the real path of a media folder, or null if it is outside the folders allowed for storage. */
export function resolveAllowedMediaFolder(folder: string, config: Config): Promise<string | null> {
  return resolveInsideRoots(folder, allowedStorageRoots(config))
}

/**
 * Returns the path of a song for another program on this machine, or null if it is outside the media folder or not a
 * regular file. `folder` is null if the media are stored remotely. The file need not exist; its stored name may differ
 * in Unicode composition.
 */
export async function locateSong(path: string, folder: string | null, config: Config) {
  let missing: string | null = null
  for (const form of listUnicodeForms(path)) {
    const located = await resolveSong(form, folder, config)
    const stats = located === null ? null : await stat(located).catch(() => null)
    if (stats) return stats.isFile() ? located : null
    missing ??= located
  }
  return missing
}

/** Imports store real paths. If an absolute path is not a real path, it was replaced by a link later. */
async function resolveSong(path: string, folder: string | null, config: Config): Promise<string | null> {
  if (isAbsolute(path) && (await resolveExistingPart(path)) === path) return path
  if (folder === null || (await resolveAllowedMediaFolder(folder, config)) === null) return null
  const file = resolve(folder, path)
  return (await resolveInsideRoots(file, [folder])) === null ? null : file
}
