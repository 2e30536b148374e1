import { openContent, writePieces } from '../../../library/uploads/content.ts'
import { abandonUpload, type FinishedUpload } from '../../../library/uploads/finish.ts'
import { toCallerError } from '../../../library/uploads/media-store.ts'
import {
  assertFits,
  createUpload,
  maxUploadBytes,
  quotaExceeded,
  tooLarge,
  type Upload,
  withUpload
} from '../../../library/uploads/uploads.ts'
import { type ApiRequest, getStation } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'
import { finishWithAudit } from './audited-finish.ts'

/** The headers of a response about a stored file. */
export const storedFileHeaders = ({ mediaId, notice }: FinishedUpload) => ({
  'Cuewire-File-Id': String(mediaId),
  ...(notice !== '' && { 'Cuewire-Notice': notice })
})

/** The quota is checked again each time that this much was received. */
const checkedBytes = 32 * 1024 * 1024

/** Passes pieces on, and throws when the file no longer fits or its station was deleted. */
export async function* checkedPieces(
  services: ApiServices,
  upload: Pick<Upload, 'stationId' | 'path'>,
  pieces: AsyncIterable<Uint8Array>
): AsyncGenerator<Uint8Array> {
  let total = 0
  let checkAt = checkedBytes
  for await (const piece of pieces) {
    total += piece.length
    if (total >= checkAt) {
      await assertFits(services, upload, total)
      checkAt = total + checkedBytes
    }
    yield piece
  }
}

export type WholeUpload = Awaited<ReturnType<typeof openWholeUpload>>

interface ExpectedFile {
  /** About; null if it is not known. */
  readonly sizeBytes: number | null
  /**
   * Where the file is going to be stored; empty if that is not known. The room of a file that is there counts as free.
   */
  readonly path: string
}

/** Receives a file that is sent in one request. `remove` must be called if it is not stored. */
export async function openWholeUpload(
  request: ApiRequest,
  services: ApiServices,
  { sizeBytes, path }: ExpectedFile
) {
  const stationId = getStation(request).id
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
        await using file = await openContent(services.config, upload.id)
        const tooLong = () => (limitBytes < maxUploadBytes(services) ? quotaExceeded() : tooLarge(services))
        const checked = checkedPieces(services, upload, pieces)
        await writePieces(file, checked, { offset: 0, maxBytes: limitBytes, tooLong })
        await file.datasync()
      } catch (error) {
        throw toCallerError(error, 'path', 'file')
      }
    },
    /** Stores the file at a path. */
    finish: async (target: string, playlistIds: readonly number[]): Promise<FinishedUpload> =>
      withUpload(services, stationId, upload.id, held =>
        finishWithAudit(request, services, { ...held, path: target, playlistIds })
      ),
    remove
  }
}
