import { openContent, writePieces } from '../../../uploads/content.ts'
import { abandonUpload, finishUpload } from '../../../uploads/finish.ts'
import { toCallerError } from '../../../uploads/media-store.ts'
import {
  assertFits,
  createUpload,
  maxUploadBytes,
  quotaExceeded,
  tooLarge,
  withUpload
} from '../../../uploads/uploads.ts'
import { recordAudit } from '../../core/audit.ts'
import { type ApiRequest, stationOf } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'

/** The quota is checked again each time that this much was received. */
const checkedBytes = 32 * 1024 * 1024

/** Passes pieces on, and throws when the file no longer fits or its station was deleted. */
export async function* checkedPieces(
  { sql }: ApiServices,
  stationId: number,
  pieces: AsyncIterable<Uint8Array>
): AsyncGenerator<Uint8Array> {
  let total = 0
  let checkAt = checkedBytes
  for await (const piece of pieces) {
    total += piece.length
    if (total >= checkAt) {
      await assertFits(sql, stationId, total)
      checkAt = total + checkedBytes
    }
    yield piece
  }
}

export type WholeUpload = Awaited<ReturnType<typeof openWholeUpload>>

/**
 * Receives a file that is sent in one request, of about `sizeBytes` (null: unknown). `remove` must be called if it is not
 * stored.
 */
export async function openWholeUpload(request: ApiRequest, services: ApiServices, sizeBytes: number | null) {
  const stationId = stationOf(request).id
  const { upload, limitBytes } = await createUpload(services, {
    stationId,
    path: '',
    sizeBytes,
    playlistIds: []
  })
  const remove = () => abandonUpload(services, upload)
  return {
    /** Writes pieces; may be called again for more. */
    receive: async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
      try {
        await using file = await openContent(services.config, upload.id)
        const tooLong = () => (limitBytes < maxUploadBytes(services) ? quotaExceeded() : tooLarge(services))
        const checked = checkedPieces(services, stationId, pieces)
        await writePieces(file, checked, { offset: 0, maxBytes: limitBytes, tooLong })
        await file.datasync()
      } catch (error) {
        throw toCallerError(error, 'path', 'file')
      }
    },
    /** Stores the file at a path. Returns the id of the media. */
    finish: async (path: string, playlistIds: readonly number[]): Promise<number> =>
      withUpload(services, stationId, upload.id, held =>
        finishUpload(
          services,
          { ...held, path, playlistIds },
          {
            recordAudit: (tx, id) => recordAudit(tx, request, { record: 'StationFile', id, fields: ['file'] })
          }
        )
      ),
    remove
  }
}
