import { mkdir, realpath } from 'node:fs/promises'
import { extname, join } from 'node:path'

import { changeStation } from '../../engine/change-station.ts'
import { ApiError, fieldError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { readAudioFileInThread } from '../media/read-in-thread.ts'
import { UnusableFileError } from '../media/unusable-file.ts'
import { openLocalFiles } from '../storage/local-files.ts'
import { defaultStationFolder } from '../storage/media-folder.ts'
import type { MediaStore } from './media-store.ts'
import type { UploadServices } from './services.ts'
import { ensureUploadsFolder } from './uploads.ts'

/*
 * Audio files of a station that are not songs of its library: the fallback track, which a playout loops while it has
 * nothing else, and the intros of mounts. Each has one name in the folder `config` of the station, so a program that
 * has the file open by its name reads a new one at its next turn.
 */

export const audioExtensions: readonly string[] = ['.mp3', '.ogg', '.opus', '.flac', '.m4a', '.aac', '.wav']

type Services = Pick<UploadServices, 'config'>

/** Opens the folder of a station's own files, which Liquidsoap reads as well. */
export async function openStationFolder(
  { config }: Services,
  stationId: number
): Promise<Pick<MediaStore, 'files' | 'folder'>> {
  const folder = defaultStationFolder(stationId, config.DATA_DIR, 'config')
  await mkdir(folder, { recursive: true })
  const real = await realpath(folder)
  return { files: openLocalFiles(real), folder: real }
}

/** The path of a file of the station for other programs; empty if `name` is. */
export const stationFilePath = ({ config }: Services, stationId: number, name: string): string =>
  name === '' ? '' : join(defaultStationFolder(stationId, config.DATA_DIR, 'config'), name)

/** One kind of audio file of a station. */
export interface StationAudioSlot {
  /** The name of the file without its extension. */
  readonly baseName: string
  /** Stores the name of the file (empty: none) and returns the former one. Runs in the transaction. May throw. */
  readonly replaceName: (tx: Tx, name: string) => Promise<string>
}

interface NewAudio {
  /** The path of the received file. */
  readonly path: string
  /** Its name at the client. */
  readonly name: string
}

/** Stores the file of a slot. Throws 400 unless it is an audio file. */
export async function storeStationAudio(
  services: UploadServices,
  stationId: number,
  slot: StationAudioSlot,
  { path, name }: NewAudio
): Promise<void> {
  const extension = extname(name).toLowerCase() || '.mp3'
  if (!audioExtensions.includes(extension))
    throw ApiError.ofFields([
      fieldError('file', 'invalid_format', `must have one of the extensions ${audioExtensions.join(', ')}.`)
    ])
  try {
    await readAudioFileInThread({ path, realRoots: [await ensureUploadsFolder(services.config)], name })
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error
    throw ApiError.ofFields([fieldError('file', 'invalid_format', `cannot be used: ${error.message}.`)])
  }
  const { files } = await openStationFolder(services, stationId)
  const target = slot.baseName + extension
  await files.put(path, target, slot.baseName)
  await replaceName(services, stationId, slot, target)
}

/** Removes the file of a slot; does nothing if it has none. */
export const removeStationAudio = (
  services: UploadServices,
  stationId: number,
  slot: StationAudioSlot
): Promise<void> => replaceName(services, stationId, slot, '')

async function replaceName(
  services: UploadServices,
  stationId: number,
  slot: StationAudioSlot,
  name: string
): Promise<void> {
  const former = await changeStation(services, stationId, ({ tx }) => slot.replaceName(tx, name))
  if (former === '' || former === name) return
  const { files } = await openStationFolder(services, stationId)
  await files.remove(former)
}
