import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

import { readAudioFile } from '../../../library/media/audio-file.ts'
import { UnusableFileError } from '../../../library/media/unusable-file.ts'
import { defaultStationFolder } from '../../../library/storage/media-folder.ts'
import { audioExtensions } from '../../../library/uploads/station-audio.ts'
import { detectImageType } from '../../../model/songs/image-type.ts'
import { isInsideRoots } from '../../../platform/runtime/contained-files.ts'
import { type AzuracastMigration, readStepProgress, readSourceRows, storeStepProgress } from '../migration.ts'

const maxPictureBytes = 5 * 1024 * 1024

/** A file in the folder of a station, in which AzuraCast keeps what is not media. */
interface StationFile {
  /** Its path in AzuraCast. */
  readonly path: string
  /** The folder that it must be in. */
  readonly folder: string
  /** Names the record that has it, also in the progress. */
  readonly owner: string
  /** For the report. */
  readonly name: string
  /** Stores it. Returns why it is not accepted, or null. */
  readonly store: (path: string) => Promise<string | null>
}

/**
 * Takes fallback tracks, intros of mounts and pictures of streamers. AzuraCast keeps them in the folder `config` of a
 * station, which its backups do not contain: they are taken if the folder is on this machine, and listed otherwise.
 * Each is taken once.
 */
export async function migrateStationFiles(migration: AzuracastMigration): Promise<void> {
  const { report, isDryRun, signal, sql } = migration
  let total = 0
  let added = 0
  for (const file of await readStationFiles(migration)) {
    signal.throwIfAborted()
    const step = `file of ${file.owner}`
    const { isComplete } = await readStepProgress(migration, step)
    const found = isComplete ? file.path : await findRealFile(file)
    if (found === null) {
      report.leave(
        'fallback tracks, intros and pictures of streamers that this machine does not have (backups do not contain them)',
        `${file.name}: ${file.path}`
      )
      continue
    }
    const problem = isComplete || isDryRun ? null : await file.store(found)
    if (problem !== null) {
      report.leave('fallback tracks, intros and pictures that are not accepted', `${file.name}: ${problem}`)
      continue
    }
    total += 1
    added += isComplete ? 0 : 1
    if (!isDryRun && !isComplete)
      await sql.begin(tx => storeStepProgress(tx, migration, step, { isComplete: true }))
  }
  if (total > 0) report.take('fallback tracks, intros of mounts and pictures of streamers', total, added)
}

async function readStationFiles(migration: AzuracastMigration): Promise<StationFile[]> {
  const { ids, sql, stations } = migration
  const files: StationFile[] = []
  const folders = new Map<number, string>()
  for await (const { row, read } of readSourceRows(migration, 'station')) {
    const sourceId = read.number(row, 'id')
    const station = stations.get(sourceId)
    const base = (read.text(row, 'radio_base_dir') ?? '').replace(/\/+$/, '')
    if (!station || base === '') continue
    const folder = `${base}/config`
    folders.set(sourceId, folder)
    const name = read.text(row, 'fallback_path') ?? ''
    if (name !== '')
      files.push({
        folder,
        path: join(folder, name),
        owner: `station ${sourceId}`,
        name: `${station.name}: fallback track`,
        store: path =>
          copyAudio(migration, station.id, 'fallback', path, async stored => {
            await sql`update stations set fallback_path = ${stored} where id = ${station.id}`
          })
      })
  }
  for await (const { row, read } of readSourceRows(migration, 'station_mounts')) {
    const id = ids.find('mount', read.number(row, 'id'))
    const station = stations.get(read.number(row, 'station_id'))
    const folder = folders.get(read.number(row, 'station_id'))
    const name = read.text(row, 'intro_path') ?? ''
    if (id === null || !station || folder === undefined || name === '') continue
    files.push({
      folder,
      path: join(folder, name),
      owner: `mount ${read.number(row, 'id')}`,
      name: `${station.name}: intro of ${read.text(row, 'name') ?? ''}`,
      store: path =>
        copyAudio(migration, station.id, `intro-${id}`, path, async stored => {
          await sql`update hls_streams set intro_path = ${stored} where id = ${id} and station_id = ${station.id}`
        })
    })
  }
  for await (const { row, read } of readSourceRows(migration, 'station_streamers')) {
    const sourceId = read.number(row, 'id')
    const id = ids.find('streamer', sourceId)
    const station = stations.get(read.number(row, 'station_id'))
    const folder = folders.get(read.number(row, 'station_id'))
    if (id === null || !station || folder === undefined || read.number(row, 'art_updated_at') === 0) continue
    files.push({
      folder,
      path: join(folder, `streamer_${sourceId}.jpg`),
      owner: `streamer ${sourceId}`,
      name: `${station.name}: picture of ${read.text(row, 'streamer_username') ?? ''}`,
      store: path => storePicture(migration, id, path)
    })
  }
  return files
}

/** The real path of a file that is inside its folder; null if there is none. */
async function findRealFile({ path, folder }: StationFile): Promise<string | null> {
  const [real, top] = await Promise.all([path, folder].map(each => realpath(each).catch(() => null)))
  if (!real || !top || !isInsideRoots(real, [top])) return null
  const found = await stat(real).catch(() => null)
  return found?.isFile() ? real : null
}

/** Copies an audio file to the station's own files, as `station-audio.ts` stores them. */
async function copyAudio(
  { dataDir }: AzuracastMigration,
  stationId: number,
  baseName: string,
  path: string,
  use: (stored: string) => Promise<void>
): Promise<string | null> {
  const extension = extname(path).toLowerCase()
  if (!audioExtensions.includes(extension))
    return `must have one of the extensions ${audioExtensions.join(', ')}`
  try {
    await readAudioFile(path, [path])
  } catch (error) {
    if (error instanceof UnusableFileError) return error.message
    throw error
  }
  const folder = defaultStationFolder(stationId, dataDir, 'config')
  await mkdir(folder, { recursive: true })
  const partial = join(folder, `.cuewire-${baseName}`)
  try {
    await copyFile(path, partial)
    await rename(partial, join(folder, baseName + extension))
  } finally {
    await rm(partial, { force: true })
  }
  await use(baseName + extension)
  return null
}

async function storePicture(
  { sql }: AzuracastMigration,
  streamerId: number,
  path: string
): Promise<string | null> {
  const { size } = await stat(path)
  if (size > maxPictureBytes) return 'larger than 5 MiB'
  const bytes = await readFile(path)
  const type = detectImageType(bytes)
  if (type === null) return 'no picture'
  const hash = createHash('sha256').update(bytes).digest('hex')
  await sql`
    update streamers set artwork = ${bytes}, artwork_type = ${type}, artwork_hash = ${hash} where id = ${streamerId}`
  return null
}
