import { mkdir, realpath } from 'node:fs/promises'
import { extname, join } from 'node:path'

import type { Tx } from '../db/sql.ts'
import { readAudioFile } from '../media/audio-file.ts'
import { UnusableFileError } from '../media/file-tokenizer.ts'
import { changeStation } from '../playout/change-station.ts'
import { ApiError, fieldError } from '../runtime/errors.ts'
import { openLocalFiles } from '../storage/local-files.ts'
import { defaultFolder } from '../storage/media-folder.ts'
import { uploadsFolder } from './content.ts'
import type { MediaStore } from './media-store.ts'
import type { UploadServices } from './services.ts'

/*
 * The track that a playout loops while it has nothing else to play. It is not a song of the library: it has a name of its
 * own in the folder `config` of the station, so that a running playout reads a new one at its next turn.
 */

const extensions = ['.mp3', '.ogg', '.opus', '.flac', '.m4a', '.wav']

type Services = Pick<UploadServices, 'config'>

/** Opens the folder of a station's own files, which Liquidsoap reads as well. */
export async function openStationFolder(
  { config }: Services,
  stationId: number
): Promise<Pick<MediaStore, 'files' | 'folder'>> {
  const folder = defaultFolder(stationId, config.DATA_DIR, 'config')
  await mkdir(folder, { recursive: true })
  const real = await realpath(folder)
  return { files: openLocalFiles(real), folder: real }
}

/** The path of a station's fallback track for Liquidsoap; empty if there is none. */
export const fallbackFile = ({ config }: Services, stationId: number, name: string): string =>
  name === '' ? '' : join(defaultFolder(stationId, config.DATA_DIR, 'config'), name)

interface NewTrack {
  /** The path of the received file. */
  readonly path: string
  /** Its name at the client. */
  readonly name: string
}

/** Stores the fallback track of a station. `inChange` runs in the transaction. Throws 400 unless it is an audio file. */
export async function storeFallback(
  services: UploadServices,
  stationId: number,
  { path, name }: NewTrack,
  inChange: (tx: Tx) => Promise<void>
): Promise<void> {
  const extension = extname(name).toLowerCase() || '.mp3'
  if (!extensions.includes(extension))
    throw ApiError.ofFields([
      fieldError('file', 'invalid_format', `must have one of the extensions ${extensions.join(', ')}.`)
    ])
  try {
    await readAudioFile(path, [await uploadsFolder(services.config)], name)
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error
    throw ApiError.ofFields([fieldError('file', 'invalid_format', `cannot be used: ${error.message}.`)])
  }
  const { files } = await openStationFolder(services, stationId)
  const target = `fallback${extension}`
  await files.put(path, target, `fallback-${stationId}`)
  await setFallback(services, stationId, target, inChange)
}

/** Removes the fallback track of a station; does nothing if it has none. */
export async function removeFallback(
  services: UploadServices,
  stationId: number,
  inChange: (tx: Tx) => Promise<void>
): Promise<void> {
  await setFallback(services, stationId, '', inChange)
}

async function setFallback(
  services: UploadServices,
  stationId: number,
  name: string,
  inChange: (tx: Tx) => Promise<void>
): Promise<void> {
  const before = await changeStation(services, stationId, async ({ tx }) => {
    const [stored] = await tx<{ name: string }[]>`
      select fallback_path as name from stations where id = ${stationId}`
    await tx`update stations set fallback_path = ${name} where id = ${stationId}`
    await inChange(tx)
    return stored?.name ?? ''
  })
  if (before === '' || before === name) return
  const { files } = await openStationFolder(services, stationId)
  await files.remove(before)
}
