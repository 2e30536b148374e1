import * as v from 'valibot'

import { readPieces } from '../../../http/incoming-stream.ts'
import { isMultipart, readMultipartForm } from '../../../http/multipart-body.ts'
import type { BodyStream, Reply } from '../../../http/route.ts'
import type { FinishedUpload } from '../../../library/uploads/finish.ts'
import { type JsonSchema, formatCheckMessage } from '../../../model/fields/field.ts'
import { ApiError, refuseField } from '../../../platform/runtime/errors.ts'
import { openEventLoopYield } from '../../../platform/runtime/time-slices.ts'
import { isJsonType, parseJsonBody } from '../../../platform/text/json-body.ts'
import { openIgnoredFieldFinder } from '../../core/ignored-fields.ts'
import { parseBody } from '../../core/parse.ts'
import { type ApiRequest, type ApiRoute, jsonReply, getRequestStation } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'
import { fileOperations, filesResource } from '../files.ts'
import { openJsonFileSplitter } from './json-file-body.ts'
import {
  assertSongPlaylists,
  composeUploadTarget,
  parsePlaylistIds,
  parseUploadTarget,
  parseUploadTargetIn
} from './upload-target.ts'
import { receiveWholeUpload, storedFileHeaders, type WholeUpload } from './whole-upload.ts'

/** What a form has beside its file, at most. */
const formOverheadBytes = 8 * 1024

const fileSchema: JsonSchema = {
  type: 'string',
  contentEncoding: 'base64',
  description:
    'The content of an audio file. With it, only `path` and `playlists` of the other fields are used.'
}

/** Fields of a request with a file. */
const target = v.object({
  path: v.string(formatCheckMessage('invalid_type', 'must be text.')),
  playlists: v.nullish(filesResource.fields.playlists.input, [])
})

const ignoredWithFile = openIgnoredFieldFinder({ properties: { path: {}, playlists: {}, file: {} } })
const ignoredInForm = openIgnoredFieldFinder({ properties: { path: {}, directory: {}, playlists: {} } })

/** The route that creates a record, which also takes a file: as Base64 in JSON, or in a form. */
export function withFileUpload(create: ApiRoute): ApiRoute {
  const ignored = openIgnoredFieldFinder(create.operation.body)
  const body: JsonSchema = {
    ...create.operation.body,
    properties: { ...propertiesOf(create), file: fileSchema }
  }
  const errors = [...new Set([...(create.operation.errors ?? []), 507])]

  const handle = async (request: ApiRequest, services: ApiServices): Promise<Reply> => {
    const { stream } = request
    const contentType = request.headers['content-type'] ?? ''
    if (stream === null) return jsonReply(await fileOperations.create(request, services))
    if (isMultipart(contentType)) {
      return readUploaded(await receiveForm(request, services, stream, contentType), request, services)
    }
    if (!isJsonType(contentType))
      throw new ApiError('wrong-media-type', 'The body must be JSON or multipart/form-data.')
    const { fields, upload } = await receiveJson(request, services, stream)
    if (upload === null) {
      const record = withoutFile(fields)
      stream.nameIgnored(ignored(record))
      return jsonReply(await fileOperations.create({ ...request, body: record, stream: null }, services))
    }
    stream.nameIgnored(ignoredWithFile(fields))
    return readUploaded(await storeJson(request, services, fields, upload), request, services)
  }

  return {
    ...create,
    operation: {
      ...create.operation,
      summary: 'Create a song of the library, or upload an audio file (JSON with Base64, or a form)',
      body,
      errors
    },
    isStreamed: true,
    headers: ['content-type'],
    handle
  }
}

/** Answers with the record of an uploaded song. */
async function readUploaded(
  finished: FinishedUpload,
  request: ApiRequest,
  services: ApiServices
): Promise<Reply> {
  const record = await fileOperations.read(request, services, finished.mediaId)
  return { ...jsonReply(record), headers: storedFileHeaders(finished) }
}

const propertiesOf = ({ operation }: ApiRoute): object => {
  const properties: unknown = operation.body?.['properties']
  return typeof properties === 'object' && properties !== null ? properties : {}
}

/** A `file` that is null is none; anything else that is not text would be lost. */
function withoutFile(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null || !('file' in fields)) return fields
  if (fields.file !== null) refuseField('file', 'invalid_type', 'must be text in Base64.')
  const { file: _file, ...others } = fields
  return others
}

async function receiveJson(request: ApiRequest, services: ApiServices, stream: BodyStream) {
  const splitter = openJsonFileSplitter()
  const decoded = decodedPieces(stream, splitter)
  const first = await decoded.next()
  if (!splitter.hasFile()) return { fields: parseJsonBody(splitter.rest(), { charset: null }), upload: null }
  const sizeBytes = stream.size === null ? null : Math.floor((stream.size * 3) / 4)
  const path = findPath(splitter.beforeFile())
  const upload = await receiveWholeUpload(request, services, { sizeBytes, path })
  try {
    await upload.receive(startingWith(first.done ? null : first.value, decoded))
    return { fields: parseJsonBody(splitter.rest(), { charset: null }), upload }
  } catch (error) {
    await upload.remove()
    throw error
  }
}

/** The path that comes before the file in a body; empty if there is none. */
function findPath(text: Uint8Array): string {
  try {
    const fields = parseJsonBody(text, { charset: null })
    const { success, output } = v.safeParse(v.object({ path: v.string() }), fields)
    return success ? composeUploadTarget('', output.path) : ''
  } catch {
    return ''
  }
}

const sliceMs = 8
/** What the splitter reads at once: other members than the file take it 0.1 us for a byte. */
const pieceBytes = 64 * 1024

async function* decodedPieces(stream: BodyStream, splitter: ReturnType<typeof openJsonFileSplitter>) {
  const pause = openEventLoopYield(sliceMs)
  for await (const piece of readPieces(stream))
    for (let from = 0; from < piece.length; from += pieceBytes) {
      await pause()
      yield* splitter.take(piece.subarray(from, from + pieceBytes))
    }
}

async function* startingWith(first: Uint8Array | null, others: AsyncIterable<Uint8Array>) {
  if (first !== null) yield first
  yield* others
}

async function storeJson(request: ApiRequest, services: ApiServices, fields: unknown, upload: WholeUpload) {
  try {
    const { path, playlists } = parseBody(target, fields)
    await assertSongPlaylists(services.sql, getRequestStation(request).id, playlists ?? [])
    return await upload.finish(parseUploadTarget(path), playlists ?? [])
  } catch (error) {
    await upload.remove()
    throw error
  }
}

/** Receives `file`, and the optional fields `path`, or `directory`, and `playlists`. */
async function receiveForm(
  request: ApiRequest,
  services: ApiServices,
  stream: BodyStream,
  contentType: string
): Promise<FinishedUpload> {
  let upload: WholeUpload | null = null
  let fileName = ''
  const sizeBytes = stream.size === null ? null : Math.max(0, stream.size - formOverheadBytes)
  try {
    const fields = await readMultipartForm(
      stream,
      contentType,
      async ({ field, name, pieces, fields: before }) => {
        if (field !== 'file') refuseField(field, 'unknown', 'is not the field of the file, which is file.')
        fileName = name
        const path = before.get('path')
        upload = await receiveWholeUpload(request, services, {
          sizeBytes,
          path:
            path === undefined
              ? composeUploadTarget(before.get('directory') ?? '', name)
              : composeUploadTarget('', path)
        })
        await upload.receive(pieces)
      }
    )
    stream.nameIgnored(ignoredInForm(Object.fromEntries(fields)))
    const received: WholeUpload | null = upload
    if (received === null) refuseField('file', 'required', 'is required.')
    const path = parseFormTarget(fields, fileName)
    const playlists = parsePlaylistIds(fields.get('playlists') ?? '')
    await assertSongPlaylists(services.sql, getRequestStation(request).id, playlists)
    return await finishReceived(received, path, playlists)
  } catch (error) {
    await removeReceived(upload)
    throw error
  }
}

function parseFormTarget(fields: ReadonlyMap<string, string>, fileName: string): string {
  const path = fields.get('path')
  if (path !== undefined) return parseUploadTarget(path)
  return parseUploadTargetIn(
    { field: 'directory', text: fields.get('directory') ?? '' },
    { field: 'file', text: fileName }
  )
}

const finishReceived = (upload: WholeUpload, path: string, playlists: readonly number[]) =>
  upload.finish(path, playlists)

const removeReceived = async (upload: WholeUpload | null) => upload?.remove()
