import { opendir } from 'node:fs/promises'

import { ApiError } from '../../platform/runtime/errors.ts'
import { isStoreAway } from '../../platform/runtime/store-errors.ts'
import { repairFileMoves } from './file-moves.ts'
import { finishUpload } from './finish.ts'
import type { UploadServices } from './services.ts'
import { isAbandonedTransientFile } from './transient-content.ts'
import { removeUploadFile, ensureUploadsFolder, uploadIdPattern, withUpload } from './uploads.ts'

const batch = 100
const maxFilesPerRun = 10_000

/**
 * Finishes uploads whose process ended while it stored them, removes expired ones, removes content without an upload,
 * and repairs interrupted moves. Returns the number of them.
 */
export async function sweepUploads(services: UploadServices, signal: AbortSignal): Promise<number> {
  const finished = await finishInterrupted(services, signal)
  const expired = await services.sql`
    delete from uploads where id = any(array(
      select id from uploads where expires_at < now() and leased_until < now()
      order by expires_at limit ${batch} for update skip locked))`
  const removed = await removeOrphans(services, signal)
  return finished + expired.count + removed + (await repairFileMoves(services, signal))
}

async function finishInterrupted(services: UploadServices, signal: AbortSignal): Promise<number> {
  const { sql, log } = services
  const rows = await sql<{ id: string; stationId: number }[]>`
    select id, station_id as "stationId" from uploads
    where state = 'storing' and leased_until < now() and expires_at > now()
    order by leased_until limit ${batch}`
  for (const { id, stationId } of rows) {
    if (signal.aborted) break
    try {
      await withUpload(services, stationId, id, upload => finishUpload(services, upload))
    } catch (error) {
      if (isStoreAway(error)) throw error
      // It was refused, or the next run tries it again.
      if (!(error instanceof ApiError))
        log.warn({ err: error, upload: id }, 'interrupted upload not finished')
    }
  }
  return rows.length
}

/** A row is inserted before its content is created, and deleted before it is removed. Other content has no row. */
async function removeOrphans({ sql, config }: UploadServices, signal: AbortSignal): Promise<number> {
  let removed = 0
  let seen = 0
  let names: string[] = []
  const removeUnknown = async () => {
    const rows = await sql<{ id: string }[]>`select id from uploads where id = any(${names}::text[])`
    const known = new Set(rows.map(({ id }) => id))
    for (const name of names.filter(each => !known.has(each))) {
      await removeUploadFile(config, name)
      removed += 1
    }
    names = []
  }
  for await (const { name } of await opendir(await ensureUploadsFolder(config))) {
    seen += 1
    if (signal.aborted || seen > maxFilesPerRun) break
    if (uploadIdPattern.test(name)) names.push(name)
    else if (await isAbandonedTransientFile(config, name)) {
      await removeUploadFile(config, name)
      removed += 1
    }
    if (names.length >= batch) await removeUnknown()
  }
  await removeUnknown()
  return removed
}
