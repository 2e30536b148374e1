import { abandonUpload } from '../../../library/uploads/end-upload.ts'
import { type FinishedUpload, finishUpload } from '../../../library/uploads/finish.ts'
import { assertUploadFits, createQuotaError, toFileApiError } from '../../../library/uploads/media-store.ts'
import {
  openUploadForWriting,
  writeFilePieces,
  createUpload,
  maxUploadBytes,
  createTooLargeError,
  withUpload
} from '../../../library/uploads/uploads.ts'
import { recordAudit } from '../../core/audit.ts'
import { type ApiRequest, getRequestStation } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'

/** The headers of a response about a stored file. */
export const storedFileHeaders = ({ mediaId, notice }: FinishedUpload) => ({
  'Cuewire-File-Id': String(mediaId),
  ...(notice !== '' && { 'Cuewire-Notice': notice })
})

export type WholeUpload = Awaited<ReturnType<typeof receiveWholeUpload>>

interface ExpectedFile {
  /** About; null if it is not known. */
  readonly sizeBytes: number | null
  /**
   * Where the file is going to be stored; empty if that is not known. The room of a file that is there counts as free.
   */
  readonly path: string
}

/** Receives a file that is sent in one request. `remove` must be called if it is not stored. */
export async function receiveWholeUpload(
  request: ApiRequest,
  services: ApiServices,
  { sizeBytes, path }: ExpectedFile
) {
  const stationId = getRequestStation(request).id
  const { upload, limitBytes } = await createUpload(services, {
    stationId,
    path,
    sizeBytes,
    playlistIds: []
  })
  const remove = () => abandonUpload(services, upload)
  return {
    /** Writes pieces; may be called again for more. */
    receive: async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
      try {
        await using file = await openUploadForWriting(services.config, upload.id)
        const tooLong = () =>
          limitBytes < maxUploadBytes(services) ? createQuotaError() : createTooLargeError(services)
        const check = (bytes: number) => assertUploadFits(services, upload, bytes)
        await writeFilePieces(file, pieces, { offset: 0, maxBytes: limitBytes, tooLong, check })
        await file.datasync()
      } catch (error) {
        throw toFileApiError(error, 'path', 'file')
      }
    },
    /** Stores the file at a path. */
    finish: async (target: string, playlistIds: readonly number[]): Promise<FinishedUpload> =>
      withUpload(services, stationId, upload.id, held =>
        finishUpload(
          services,
          { ...held, path: target, playlistIds },
          { recordAudit: (tx, entry) => recordAudit(tx, request, entry) }
        )
      ),
    remove
  }
}
