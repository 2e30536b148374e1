import { readPieces } from '../../../http/incoming-stream.ts'
import type { BodyStream, Reply } from '../../../http/route.ts'
import { removeUpload, storeUploadRefusal } from '../../../library/uploads/end-upload.ts'
import { type FinishedUpload, finishUpload } from '../../../library/uploads/finish.ts'
import {
  assertUploadFits,
  openUsableMediaStore,
  toFileApiError
} from '../../../library/uploads/media-store.ts'
import {
  openUploadForWriting,
  readReceivedBytes,
  writeFilePieces,
  uploadIdPattern,
  createUpload,
  getUpload,
  maxUploadBytes,
  throwUploadFailure,
  createTooLargeError,
  type Upload,
  withUpload
} from '../../../library/uploads/uploads.ts'
import { ApiError, fieldError, refuseField } from '../../../platform/runtime/errors.ts'
import { decodeForeignTextAsSent } from '../../../platform/text/foreign-text.ts'
import { resolveLibraryPath } from '../../../stores/db/library/stored-names.ts'
import { recordAudit } from '../../core/audit.ts'
import { parsePathTextId } from '../../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../../core/route.ts'
import { exactObject, int64, namedSchema, nullableInt64, string, unixSeconds } from '../../core/schemas.ts'
import type { ApiServices } from '../../core/services.ts'
import {
  assertSongPlaylists,
  parsePlaylistIds,
  parseUploadTarget,
  parseUploadTargetIn
} from './upload-target.ts'
import { storedFileHeaders } from './whole-upload.ts'

/*
 * Resumable uploads: tus 1.0.0 with the extensions creation, creation-with-upload, expiration and termination
 * (https://tus.io/protocols/resumable-upload). The file is stored with the last piece.
 */

const version = '1.0.0'
const pieceType = 'application/offset+octet-stream'
const path = '/api/station/:station_id/files/uploads'
const access = 'manage station media'
const tag = 'Files'
const lengthField = 'Upload-Length'
const maxMetadataBytes = 16 * 1024

/** Required of every response, also of errors. */
const responseHeaders = { 'Tus-Resumable': version }

const optionsHeaders = {
  'Tus-Version': version,
  'Tus-Extension': 'creation,creation-with-upload,expiration,termination'
}

const failures = [404, 409, 410, 412, 423, 507]

const uploadSchema = namedSchema(
  'Upload',
  'A resumable upload.',
  exactObject({
    id: string,
    path: string,
    size: { ...int64, description: 'The size of the file in bytes.' },
    offset: { ...int64, description: 'The bytes that were received.' },
    state: { ...string, enum: ['receiving', 'storing', 'done', 'failed'] },
    file_id: { ...nullableInt64, description: 'The id of the song, once the file is stored.' },
    expires_at: unixSeconds
  })
)

const create = apiRoute('POST', path, access, {
  id: 'createUpload',
  tag,
  summary:
    'Begin a resumable upload (tus 1.0.0): Upload-Length, and Upload-Metadata with path, or filename and directory; with overwrite false, 409 if a song has the path',
  status: 201,
  response: null,
  errors: failures,
  isStreamed: true,
  responseHeaders,
  optionsHeaders,
  headers: ['tus-resumable', 'upload-length', 'upload-metadata', 'content-type'],
  async handle(request, services) {
    checkVersion(request)
    const stationId = getRequestStation(request).id
    const sizeBytes = parseLength(request.headers['upload-length'] ?? '', lengthField)
    if (sizeBytes > maxUploadBytes(services)) throw createTooLargeError(services, lengthField)
    if (sizeBytes === 0) refuseField(lengthField, 'out_of_range', 'must be at least 1.')
    const { target, targetField, playlistIds, mayReplace } = parseMetadata(
      request.headers['upload-metadata'] ?? ''
    )
    await assertSongPlaylists(services.sql, stationId, playlistIds)
    if (!mayReplace) await assertFree(services, stationId, target, targetField)
    const { upload } = await createUpload(services, {
      stationId,
      path: target,
      sizeBytes,
      sizeField: lengthField,
      playlistIds,
      isResumable: true
    })
    const headers = {
      Location: `${request.path}/${upload.id}`,
      'Upload-Expires': new Date(upload.expiresAtMs).toUTCString()
    }
    try {
      const { stream } = request
      if (stream === null || stream.size === 0) return { status: 201, headers }
      checkPieceType(request)
      const received = await withUpload(services, stationId, upload.id, held =>
        append(request, services, { upload: held, stream, offset: 0 })
      )
      return { status: 201, headers: { ...headers, ...received } }
    } finally {
      // The client has disconnected, so it does not get the address.
      if (!request.isOpen()) await removeUpload(services, upload.id)
    }
  }
})

const send = apiRoute('PATCH', `${path}/:upload`, access, {
  id: 'sendUpload',
  tag,
  summary: 'Send the next piece of a resumable upload at Upload-Offset; with the last one the file is stored',
  status: 204,
  response: null,
  errors: failures,
  isStreamed: true,
  responseHeaders,
  optionsHeaders,
  headers: ['tus-resumable', 'upload-offset', 'content-type'],
  async handle(request, services) {
    checkVersion(request)
    checkPieceType(request)
    const offset = parseLength(request.headers['upload-offset'] ?? '', 'Upload-Offset')
    const { stream } = request
    if (stream === null) throw new ApiError('invalid')
    const headers = await withUpload(services, getRequestStation(request).id, uploadId(request), upload =>
      append(request, services, { upload, stream, offset })
    )
    return { status: 204, headers }
  }
})

/** Also finishes an upload whose last request was cut off after its last byte. */
const read = apiRoute('GET', `${path}/:upload`, access, {
  id: 'getUpload',
  tag,
  summary: 'How much of a resumable upload was received; HEAD returns it as Upload-Offset',
  response: uploadSchema,
  errors: failures,
  changes: true,
  responseHeaders,
  optionsHeaders,
  async handle(request, services) {
    const { config, sql } = services
    const stationId = getRequestStation(request).id
    const found = await getUpload(sql, stationId, uploadId(request))
    throwUploadFailure(found)
    const received = found.state === 'done' ? found.sizeBytes : await readReceivedBytes(config, found.id)
    const isWhole = received === found.sizeBytes && found.state !== 'done'
    const finished = isWhole
      ? await withUpload(services, stationId, found.id, upload => finish(request, services, upload))
      : found.mediaId === null
        ? null
        : { mediaId: found.mediaId, notice: '' }
    return {
      ...jsonReply({
        id: found.id,
        path: found.path,
        size: found.sizeBytes,
        offset: received,
        state: finished === null ? found.state : 'done',
        file_id: finished?.mediaId ?? null,
        expires_at: Math.floor(found.expiresAtMs / 1000)
      }),
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Upload-Offset': String(received),
        'Upload-Length': String(found.sizeBytes),
        'Upload-Expires': new Date(found.expiresAtMs).toUTCString(),
        ...(finished && storedFileHeaders(finished))
      }
    }
  }
})

const remove = apiRoute('DELETE', `${path}/:upload`, access, {
  id: 'deleteUpload',
  tag,
  summary: 'End a resumable upload and remove what was received; a stored file remains',
  status: 204,
  response: null,
  errors: failures,
  responseHeaders,
  optionsHeaders,
  async handle(request, services): Promise<Reply> {
    const id = uploadId(request)
    // A client that cancels may have cut off its last request just now.
    await withUpload(services, getRequestStation(request).id, id, () => removeUpload(services, id), {
      waits: true
    })
    return { status: 204 }
  }
})

/** Throws 409 if a song of the station has the path. */
async function assertFree(
  services: ApiServices,
  stationId: number,
  target: string,
  field: string
): Promise<void> {
  const { reads: sql } = services
  const { folder } = await openUsableMediaStore(services, stationId)
  const stored = await resolveLibraryPath(sql, stationId, target, folder)
  const [song] = await sql`select from media where station_id = ${stationId} and path = ${stored}`
  if (song)
    throw ApiError.ofFields([fieldError(field, 'duplicate', 'is taken: a song has this path.')], 'conflict')
}

function uploadId({ params }: ApiRequest): string {
  return parsePathTextId(params['upload'], uploadIdPattern)
}

interface Append {
  readonly upload: Upload
  readonly stream: BodyStream
  readonly offset: number
}

/** Writes a piece; with the last one the file is stored. Returns the headers of the response. */
async function append(request: ApiRequest, services: ApiServices, { upload, stream, offset }: Append) {
  const { config } = services
  const { id, sizeBytes } = upload
  throwUploadFailure(upload)
  // A client that has not seen the last response may repeat its request.
  if (upload.state !== 'receiving') {
    if (offset !== sizeBytes) throw wrongOffset(sizeBytes)
    return finishedHeaders(sizeBytes, await finish(request, services, upload))
  }
  const received = await readReceivedBytes(config, id)
  if (offset !== received) throw wrongOffset(received)
  try {
    await assertUploadFits(services, upload, sizeBytes, lengthField)
    await using file = await openUploadForWriting(config, id)
    const end = await writeFilePieces(file, readPieces(stream), {
      offset,
      maxBytes: sizeBytes - offset,
      check: bytes => assertUploadFits(services, upload, bytes),
      tooLong: () =>
        ApiError.ofFields(
          [fieldError(lengthField, 'too_large', `is ${sizeBytes}, but more bytes were sent.`)],
          'too-large'
        )
    })
    if (end < sizeBytes) return { 'Upload-Offset': String(end) }
    await file.datasync()
  } catch (error) {
    const shown = toFileApiError(error, 'path', lengthField)
    if (shown instanceof ApiError && shown.kind === 'storage-full')
      await storeUploadRefusal(services, upload, shown)
    throw shown
  }
  return finishedHeaders(sizeBytes, await finish(request, services, upload))
}

const finish = (request: ApiRequest, services: ApiServices, upload: Upload) =>
  finishUpload(services, upload, { recordAudit: (tx, entry) => recordAudit(tx, request, entry) })

const finishedHeaders = (offset: number, finished: FinishedUpload) => ({
  'Upload-Offset': String(offset),
  ...storedFileHeaders(finished)
})

const wrongOffset = (received: number) =>
  ApiError.ofFields(
    [
      fieldError(
        'Upload-Offset',
        'out_of_range',
        `must be ${received}, the number of bytes that were received.`
      )
    ],
    'conflict'
  )

function checkVersion({ headers }: ApiRequest): void {
  if (headers['tus-resumable'] !== version)
    throw new ApiError('unmet-condition', `Tus-Resumable must be ${version}.`, { tus_version: version })
}

function checkPieceType({ headers }: ApiRequest): void {
  if (headers['content-type'] !== pieceType)
    throw new ApiError('wrong-media-type', `The content type must be ${pieceType}.`)
}

function parseLength(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) refuseField(name, 'invalid_format', 'must be a number of bytes.')
  return Number(text)
}

/** Parses `Upload-Metadata`: names and values in Base64, `filename YS5tcDM=,directory bmV3`. */
function parseMetadata(header: string) {
  if (header.length > maxMetadataBytes)
    refuseField('Upload-Metadata', 'too_long', `must have at most ${maxMetadataBytes} bytes.`)
  const pairs = header.split(',').map(pair => pair.trim().split(' '))
  const values = new Map(
    pairs.map(([name = '', value = '']) => [name, decodeForeignTextAsSent(Buffer.from(value, 'base64'))])
  )
  // Clients send the text "null" for a file without a folder.
  const nameField = ['relativePath', 'filename', 'name'].find(
    name => !['', 'null'].includes(values.get(name) ?? '')
  )
  const given = values.get('path')
  return {
    target:
      given === undefined
        ? parseUploadTargetIn(
            { field: 'directory', text: values.get('directory') ?? '' },
            { field: nameField ?? 'path', text: values.get(nameField ?? '') ?? '' }
          )
        : parseUploadTarget(given),
    targetField: given === undefined ? (nameField ?? 'path') : 'path',
    playlistIds: parsePlaylistIds(values.get('playlists') ?? ''),
    mayReplace: values.get('overwrite') !== 'false'
  }
}

export const tusRoutes = [create, send, read, remove]
