import type { ApiError } from '../../platform/runtime/errors.ts'
import { resolveLibraryPath } from '../../stores/db/library/stored-names.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { openMediaStore, statWithin } from './media-store.ts'
import type { UploadServices } from './services.ts'
import { removeUploadFile, type Upload } from './uploads.ts'

/**
 * Ends an upload and removes its content. One that may be in the media storage already remains, for the sweep to
 * finish.
 */
export async function removeUpload({ sql, config }: UploadServices, id: string): Promise<void> {
  const [kept] = await sql`select from uploads where id = ${id} and state = 'storing'`
  if (kept) return
  await sql`delete from uploads where id = ${id}`
  await removeUploadFile(config, id)
}

/**
 * Ends an upload whose client cannot continue it, and removes what was received and stored, unless a song has the file.
 * An upload that is done, or that the sweep is finishing, remains.
 */
export async function abandonUpload(
  services: UploadServices,
  { id, stationId }: Pick<Upload, 'id' | 'stationId'>
): Promise<void> {
  const { sql, config, log } = services
  const [ended] = await sql<ReservedUpload[]>`
    delete from uploads where id = ${id} and state <> 'done' and leased_until < now()
    returning state, station_id as "stationId", path, size_bytes as "sizeBytes"`
  if (!ended) return
  await removeUploadFile(config, id)
  if (ended.state !== 'storing') return
  try {
    const media = await openMediaStore(services, stationId)
    const path = await resolveLibraryPath(sql, stationId, ended.path, media.folder)
    const [known] = await sql`select from media where station_id = ${stationId} and path = ${path}`
    if (!known) await media.files.remove(ended.path)
  } catch (error) {
    log.warn({ err: error, upload: id }, 'file of an abandoned upload not removed')
  }
  await releaseBytes(services, sql, ended)
}

interface ReservedUpload extends Pick<Upload, 'state' | 'stationId' | 'path' | 'sizeBytes'> {}

/**
 * Frees what `reserve` has counted for a file that is not stored, beyond the file that is at its path now. If the
 * storage does not respond, it stays counted until the storage is measured.
 */
async function releaseBytes(
  services: UploadServices,
  tx: Tx | Sql,
  { stationId, path, sizeBytes }: ReservedUpload
): Promise<void> {
  const keptBytes = await openMediaStore(services, stationId)
    .then(media => statWithin(media, path))
    .catch((error: unknown) => {
      services.log.warn({ err: error, station: stationId, path }, 'space of a refused upload not freed')
      return sizeBytes
    })
  await tx`
    update storage_locations set used_bytes = greatest(0, used_bytes - ${Math.max(0, sizeBytes - keptBytes)})
    where id = (select media_storage_location_id from stations where id = ${stationId})`
}

/** Keeps the error of an upload, removes its content and no longer counts its size. */
export async function storeUploadRefusal(
  services: UploadServices,
  { id, lease }: Upload,
  error: ApiError
): Promise<void> {
  const { sql, config } = services
  const { kind, message, extraData } = error
  await sql.begin(async tx => {
    const [before] = await tx<ReservedUpload[]>`
      select state, station_id as "stationId", path, size_bytes as "sizeBytes"
      from uploads where id = ${id} and lease = ${lease} for update`
    if (!before) return
    await tx`
      update uploads set state = 'failed', client_key = null, failure = ${tx.json({ kind, message, extraData: JSON.parse(JSON.stringify(extraData)) })}
      where id = ${id}`
    if (before.state === 'storing') await releaseBytes(services, tx, before)
  })
  await removeUploadFile(config, id)
}
