import { basename } from 'node:path'

import { readPieces } from '../../../http/incoming-stream.ts'
import { isMultipart, readMultipartForm } from '../../../http/multipart-body.ts'
import type { BodyStream } from '../../../http/route.ts'
import { toFileApiError } from '../../../library/uploads/media-store.ts'
import { generateTransientUploadId } from '../../../library/uploads/transient-content.ts'
import {
  uploadFilePath,
  openUploadForWriting,
  removeUploadFile,
  writeFilePieces
} from '../../../library/uploads/uploads.ts'
import { ApiError, fieldError, refuseField } from '../../../platform/runtime/errors.ts'
import { findCharset } from '../../../platform/text/foreign-text.ts'
import { findCharsetField } from '../../../platform/text/percent-encoding.ts'
import type { ApiRequest } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'

/** A file that was received, at a temporary path. */
export interface ReceivedFile {
  readonly path: string
  /** Without folders; empty if the client sent none. */
  readonly name: string
  readonly sizeBytes: number
  /** The charset that the request names: in its content type, a field or its query. Null: it names none. */
  readonly charset: string | null
}

/**
 * Receives the file of a request of a route with `isStreamed`: a form with one file, in a field of any name (flow.js
 * sends it in one chunk), or the bytes of the file as the body. Calls `use` with it and deletes it afterwards. Throws
 * 413 above `maxBytes`.
 */
export async function withReceivedFile<Result>(
  request: ApiRequest,
  services: ApiServices,
  maxBytes: number,
  use: (file: ReceivedFile) => Promise<Result>
): Promise<Result> {
  const { stream } = request
  if (stream === null) throw new ApiError('invalid', 'The request has no body.')
  const { config } = services
  const id = generateTransientUploadId()
  try {
    const received = await receive(request, stream, services, { id, maxBytes })
    if (received.sizeBytes === 0) refuseField('file', 'blank', 'is empty.')
    return await use({ ...received, path: await uploadFilePath(config, id) })
  } catch (error) {
    throw toFileApiError(error, 'file')
  } finally {
    await removeUploadFile(config, id)
  }
}

async function receive(
  request: ApiRequest,
  stream: BodyStream,
  services: ApiServices,
  { id, maxBytes }: { readonly id: string; readonly maxBytes: number }
): Promise<Omit<ReceivedFile, 'path'>> {
  const tooLong = () =>
    ApiError.ofFields(
      [fieldError('file', 'too_large', `is too large: it may have ${maxBytes / 1024 / 1024} MiB.`)],
      'too-large'
    )
  if (stream.size !== null && stream.size > maxBytes + 64 * 1024) throw tooLong()
  const write = async (pieces: AsyncIterable<Uint8Array>) => {
    await using file = await openUploadForWriting(services.config, id)
    return await writeFilePieces(file, pieces, { offset: 0, maxBytes, tooLong })
  }
  const contentType = request.headers['content-type'] ?? ''
  const charset = findCharset(contentType) ?? findCharsetField(request.query)
  if (!isMultipart(contentType)) return { name: '', sizeBytes: await write(readPieces(stream)), charset }
  let received = { name: '', sizeBytes: 0 }
  let partCharset: string | null = null
  let isReceived = false
  const form = await readMultipartForm(
    stream,
    contentType,
    async ({ name, fields, charset: named, pieces }) => {
      if ((fields.get('flowTotalChunks') ?? '1') !== '1')
        throw ApiError.ofFields([
          fieldError('flowTotalChunks', 'out_of_range', 'must be 1: send the file in one piece.')
        ])
      received = { name: basename(name), sizeBytes: await write(pieces) }
      partCharset = named
      isReceived = true
    }
  )
  if (!isReceived) refuseField('file', 'required', 'is required.')
  return { ...received, charset: partCharset ?? findCharsetField(form) ?? charset }
}
