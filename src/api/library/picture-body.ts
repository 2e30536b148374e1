import { readPieces } from '../../http/incoming-stream.ts'
import { readMultipartForm } from '../../http/multipart-body.ts'
import type { BodyStream } from '../../http/route.ts'
import { detectImageType, type ImageType, imageTypes } from '../../model/songs/image-type.ts'
import { ApiError, refuseBody, refuseField } from '../../platform/runtime/errors.ts'
import type { ApiRequest } from '../core/route.ts'

const formType = 'multipart/form-data'

/** The content types of a body that `readPictureBody` reads. */
export const pictureBodyTypes = [...imageTypes, formType]

/** A picture that was received, and its type by its first bytes. */
export interface ReceivedPicture {
  readonly bytes: Buffer
  readonly type: ImageType
}

/**
 * Reads a picture from the body of a route with `isStreamed`: the picture itself, or a form with one file, also as
 * flow.js sends it in one chunk. Throws 400, 413 and 415.
 */
export async function readPictureBody(
  { stream, headers }: ApiRequest,
  maxBytes: number
): Promise<ReceivedPicture> {
  if (stream === null) throw new Error('the route is not streamed')
  const contentType = headers['content-type'] ?? ''
  const [typeName = ''] = contentType.toLowerCase().split(';')
  const bytes = await readBytes(stream, typeName.trim(), contentType, maxBytes)
  const type = detectImageType(bytes)
  if (type === null) return refuseBody('invalid_format', 'The file must be a JPEG, PNG, WebP or GIF picture.')
  return { bytes, type }
}

async function readBytes(
  stream: BodyStream,
  type: string,
  contentType: string,
  maxBytes: number
): Promise<Buffer> {
  if (imageTypes.some(each => each === type)) return collect(readPieces(stream), maxBytes)
  if (type !== formType)
    throw new ApiError('wrong-media-type', `The body must be a form, or one of ${imageTypes.join(', ')}.`)
  const received: Buffer[] = []
  const fields = await readMultipartForm(stream, contentType, async ({ pieces }) => {
    received.push(await collect(pieces, maxBytes))
  })
  const chunks = fields.get('flowTotalChunks') ?? '1'
  if (chunks !== '1')
    refuseField('flowTotalChunks', 'out_of_range', 'must be 1: send the picture in one chunk.')
  return received[0] ?? refuseField('file', 'required', 'is required.')
}

async function collect(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const collected: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes)
      throw new ApiError('too-large', `The picture is larger than ${maxBytes / 2 ** 20} MiB.`)
    collected.push(Buffer.from(piece))
  }
  return Buffer.concat(collected)
}
