import { ApiError, errorCodeOf } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { toStoredPath } from '../storage/media-folder.ts'
import { StorageFault } from '../storage/storage-fault.ts'
import { lockFilePaths, type MediaStore, openMediaStore } from './media-store.ts'
import type { UploadServices } from './services.ts'

/** Longer than a request can move a file. */
const repairAfter = '15 minutes'
const maxAttempts = 100
const batch = 100

/** The file of a song, and where it is moved. Paths are relative to the media storage. */
export interface FileMove {
  readonly mediaId: number
  readonly stationId: number
  readonly from: string
  readonly to: string
}

/**
 * Records that a file is being moved or copied, after `check` ran while both paths are locked. Throws 409 if the song
 * or another file is being moved there. `endFileMove` ends it; if the process is killed, `repairFileMoves` does.
 */
export async function beginFileMove(
  sql: Sql,
  { storageId }: Pick<MediaStore, 'storageId'>,
  { mediaId, stationId, from, to }: FileMove,
  check: (tx: Tx) => Promise<void>
): Promise<void> {
  await sql
    .begin(async tx => {
      await lockFilePaths(tx, { storageId }, [from, to])
      await check(tx)
      await tx`
        insert into file_moves (media_id, station_id, storage_id, from_path, to_path)
        values (${mediaId}, ${stationId}, ${storageId}, ${from}, ${to})`
    })
    .catch((error: unknown) => {
      if (errorCodeOf(error) !== '23505') throw error
      throw new ApiError('conflict', 'Another request is moving this song, or a file to this path.')
    })
}

/**
 * Moves a file, and then its song with `moveRow`; moves the file back if that fails. `check` runs before, as in
 * `beginFileMove`, which also says what it throws.
 */
export async function moveFileAndRow<Result>(
  { sql, log }: UploadServices,
  { files, storageId }: MediaStore,
  move: FileMove,
  check: (tx: Tx) => Promise<void>,
  moveRow: () => Promise<Result>
): Promise<Result> {
  const { mediaId, from, to } = move
  await beginFileMove(sql, { storageId }, move, check)
  let isMoved = false
  let isCertain = true
  try {
    await files.move(from, to)
    isMoved = true
    return await moveRow()
  } catch (error) {
    if (isMoved)
      await files.move(to, from).catch((failure: unknown) => {
        isCertain = false
        log.error(
          { err: failure, media: mediaId, path: to },
          'file not moved back; the workers will try again'
        )
      })
    else if (error instanceof StorageFault && error.reason === 'timed_out') isCertain = false
    throw error
  } finally {
    if (isCertain) await endFileMove(sql, mediaId)
  }
}

/** Ends what `beginFileMove` began. */
export async function endFileMove(sql: Sql, mediaId: number): Promise<void> {
  await sql`delete from file_moves where media_id = ${mediaId}`
}

interface Interrupted extends FileMove {
  /** Of the song, as it is stored. */
  readonly path: string
  readonly attempts: number
}

/**
 * Ends moves whose process was killed: moves a file back to where its song expects it. Returns the number of moves that
 * were ended. While a storage does not respond they are attempted again, a limited number of times.
 */
export async function repairFileMoves(services: UploadServices, signal: AbortSignal): Promise<number> {
  const { sql, log } = services
  const moves = await sql<Interrupted[]>`
    update file_moves f set attempted_at = now(), attempts = f.attempts + 1 from media m
    where m.id = f.media_id and f.media_id = any(array(
      select media_id from file_moves where attempted_at < now() - ${repairAfter}::interval
      order by attempted_at limit ${batch} for update skip locked))
    returning f.media_id as "mediaId", f.station_id as "stationId", f.from_path as "from", f.to_path as "to",
      m.path, f.attempts`
  let ended = 0
  for (const move of moves) {
    if (signal.aborted) break
    try {
      await repairMove(services, move)
    } catch (error) {
      log.warn({ err: error, media: move.mediaId }, 'interrupted move of a file not repaired')
      if (move.attempts < maxAttempts) continue
    }
    await endFileMove(sql, move.mediaId)
    ended += 1
  }
  return ended
}

async function repairMove(services: UploadServices, { stationId, from, to, path }: Interrupted) {
  const { files, folder } = await openMediaStore(services, stationId)
  if (toStoredPath(path, folder) !== from) return
  if ((await files.stat(from)) === null && (await files.stat(to)) !== null) await files.move(to, from)
}
