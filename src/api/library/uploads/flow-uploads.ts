import { createHash } from 'node:crypto'

import { type FilePart, isMultipart, readMultipartForm } from '../../../http/multipart-body.ts'
import type { Reply } from '../../../http/route.ts'
import { type FinishedUpload, finishUpload } from '../../../library/uploads/finish.ts'
import { toFileApiError } from '../../../library/uploads/media-store.ts'
import { openNamelessFile, readPieces } from '../../../library/uploads/transient-content.ts'
import {
  openUploadForWriting,
  writeFilePieces,
  createUpload,
  maxUploadBytes,
  createTooLargeError,
  type Upload,
  withUpload
} from '../../../library/uploads/uploads.ts'
import { ApiError, fieldError, refuseField } from '../../../platform/runtime/errors.ts'
import type { Sql } from '../../../stores/db/sql.ts'
import { recordAudit } from '../../core/audit.ts'
import { openIgnoredFieldFinder } from '../../core/ignored-fields.ts'
import { actionReply, type ApiRequest, apiRoute, getRequestStation } from '../../core/route.ts'
import { int64, schemaRef, string } from '../../core/schemas.ts'
import type { ApiServices } from '../../core/services.ts'
import { lastPathPart } from '../media-paths.ts'
import { composeUploadTarget, parseUploadTargetIn } from './upload-target.ts'
import { receiveWholeUpload, storedFileHeaders, type WholeUpload } from './whole-upload.ts'

/*
 * Uploads in numbered chunks, as flow.js sends them: several at once, in any order, and again after errors. A chunk is
 * received whole before it becomes a part of the upload.
 */

const path = '/api/station/:station_id/files/upload'
const access = 'manage station media'
const tag = 'Files'
const maxChunks = 100_000
const maxChunkBytes = 100 * 1024 * 1024

/** A chunk as its parameters describe it. */
interface Chunk {
  readonly number: number
  readonly count: number
  readonly sizeBytes: number
  readonly offset: number
  readonly totalBytes: number
  readonly target: string
  /** Names the upload. */
  readonly clientKey: string
}

type Read = (name: string) => string

function parseChunk(read: Read, services: ApiServices): Chunk {
  const count = parseNumber(read, 'flowTotalChunks', 1, maxChunks)
  const number = parseNumber(read, 'flowChunkNumber', 1, count)
  const totalBytes = parseNumber(read, 'flowTotalSize', 1, Number.MAX_SAFE_INTEGER)
  if (totalBytes > maxUploadBytes(services)) throw createTooLargeError(services, 'flowTotalSize')
  const sizeBytes = parseNumber(read, 'flowCurrentChunkSize', 1, Math.min(maxChunkBytes, totalBytes))
  // The last chunk has another size than the others.
  const offset = number === count ? totalBytes - sizeBytes : (number - 1) * sizeBytes
  if (offset + sizeBytes > totalBytes)
    refuseField('flowCurrentChunkSize', 'out_of_range', 'does not fit to the size of the file.')
  const nameField = read('flowRelativePath') === '' ? 'flowFilename' : 'flowRelativePath'
  const target = parseUploadTargetIn(
    { field: 'currentDirectory', text: read('currentDirectory') },
    { field: nameField, text: read(nameField) }
  )
  const named = JSON.stringify([target, read('flowIdentifier'), totalBytes, count])
  const clientKey = createHash('sha256').update(named).digest('hex')
  return { number, count, sizeBytes, offset, totalBytes, target, clientKey }
}

function parseNumber(read: Read, name: string, min: number, max: number): number {
  const text = read(name)
  if (!/^\d{1,16}$/.test(text)) refuseField(name, 'invalid_format', 'must be a whole number.')
  const value = Number(text)
  if (value < min || value > max) refuseField(name, 'out_of_range', `must be from ${min} to ${max}.`)
  return value
}

const parameters = {
  flowChunkNumber: { ...int64, description: 'From 1 on.' },
  flowTotalChunks: int64,
  flowCurrentChunkSize: int64,
  flowTotalSize: int64,
  flowIdentifier: { ...string, description: 'Tells files of the same path and size apart.' },
  flowFilename: string,
  flowRelativePath: string,
  currentDirectory: string
}

/** `flowChunkSize` is not needed, but flow.js sends it. */
const ignoredIn = openIgnoredFieldFinder({ properties: { ...parameters, flowChunkSize: {} } })

const find = apiRoute('GET', path, access, {
  id: 'findChunk',
  tag,
  summary: 'Whether a chunk of an upload with flow.js was received',
  query: parameters,
  response: schemaRef('ActionResult'),
  absent: 'The chunk was not received.',
  errors: [413],
  async handle(request, services): Promise<Reply> {
    const { number, clientKey } = parseChunk(name => request.query.get(name) ?? '', services)
    const upload = await findByClientKey(services.sql, getRequestStation(request).id, clientKey)
    return upload?.pieces.includes(number) ? actionReply('The chunk was received.') : { status: 204 }
  }
})

const send = apiRoute('POST', path, access, {
  id: 'sendChunk',
  tag,
  summary:
    'Send a chunk of a file as flow.js does: a form with the parameters before `file_data`; with the last missing one the file is stored. Without parameters: a whole file',
  response: schemaRef('ActionResult'),
  errors: [404, 413, 423, 507],
  isStreamed: true,
  headers: ['content-type'],
  async handle(request, services): Promise<Reply> {
    const { stream } = request
    const contentType = request.headers['content-type'] ?? ''
    if (stream === null || !isMultipart(contentType))
      throw new ApiError('wrong-media-type', 'The body must be multipart/form-data.')
    const finishing: FinishForm[] = []
    let isWhole = false
    const removals: (() => Promise<void>)[] = []
    try {
      const fields = await readMultipartForm(stream, contentType, async part => {
        stream.nameIgnored(ignoredIn(Object.fromEntries(part.fields)))
        if (isChunk(part.fields)) {
          const reply = await receiveChunk(request, services, part)
          finishing.push(async () => reply)
          return
        }
        isWhole = true
        const upload = await receiveWholeUpload(request, services, {
          sizeBytes: null,
          path: composeUploadTarget(part.fields.get('currentDirectory') ?? '', lastPathPart(part.name))
        })
        removals.push(upload.remove)
        finishing.push(folder => storeWhole(upload, folder, part.name))
        await upload.receive(part.pieces)
      })
      stream.nameIgnored(ignoredIn(Object.fromEntries(fields)))
      // Otherwise a chunk would be stored as the file.
      if (isWhole && isChunk(fields))
        refuseField('file_data', 'invalid_format', 'must follow the parameters.')
      const [finishForm] = finishing
      if (!finishForm) refuseField('file_data', 'required', 'is required, after the parameters.')
      return await finishForm(fields.get('currentDirectory') ?? '')
    } catch (error) {
      for (const remove of removals) await remove()
      throw error
    }
  }
})

/** Called with the folder once the form was received, which may name the folder after the file. */
type FinishForm = (folder: string) => Promise<Reply>

/** Whether a part with these fields is a chunk; without its parameters, it is a whole file. */
const isChunk = (fields: FilePart['fields']) =>
  [...fields].some(([name, value]) => name.startsWith('flow') && value !== '')

async function storeWhole(upload: WholeUpload, folder: string, name: string): Promise<Reply> {
  try {
    const target = parseUploadTargetIn(
      { field: 'currentDirectory', text: folder },
      { field: 'file', text: lastPathPart(name) }
    )
    return storedReply(await upload.finish(target, []))
  } catch (error) {
    throw toFileApiError(error, 'file')
  }
}

const storedReply = (finished: FinishedUpload): Reply => ({
  ...actionReply(['The file was stored.', finished.notice].join(' ').trim()),
  headers: storedFileHeaders(finished)
})

async function receiveChunk(
  request: ApiRequest,
  services: ApiServices,
  { fields, pieces }: FilePart
): Promise<Reply> {
  const { sql, config } = services
  const stationId = getRequestStation(request).id
  const chunk = parseChunk(name => fields.get(name) ?? '', services)
  const { sizeBytes } = chunk
  const wrongSize = () =>
    ApiError.ofFields([
      fieldError('flowCurrentChunkSize', 'invalid_format', `must be the size of the chunk, not ${sizeBytes}.`)
    ])
  try {
    const id = await getOrCreateUpload(services, stationId, chunk)
    await using received = await openNamelessFile(config)
    const end = await writeFilePieces(received, pieces, {
      offset: 0,
      maxBytes: sizeBytes,
      tooLong: wrongSize
    })
    if (end !== sizeBytes) throw wrongSize()
    const append = async (upload: Upload): Promise<Reply> => {
      if (upload.state === 'receiving') {
        await using content = await openUploadForWriting(config, id)
        await writeFilePieces(content, readPieces(received, sizeBytes), {
          offset: chunk.offset,
          maxBytes: sizeBytes,
          tooLong: wrongSize
        })
        await content.datasync()
      }
      const count = await addPiece(sql, upload, chunk.number)
      return count < chunk.count ? actionReply('The chunk was received.') : finish(request, services, upload)
    }
    return await withUpload(services, stationId, id, append, { waits: true })
  } catch (error) {
    throw toFileApiError(error, 'flowFilename', 'file_data')
  }
}

/** Finds an unfinished upload by the name that its client gave it. */
async function findByClientKey(
  sql: Sql,
  stationId: number,
  clientKey: string
): Promise<{ readonly id: string; readonly pieces: readonly number[] } | null> {
  const [upload] = await sql<{ id: string; pieces: number[] }[]>`
    select id, pieces from uploads
    where station_id = ${stationId} and client_key = ${clientKey} and expires_at > now()`
  return upload ?? null
}

/** Remembers that a chunk was received. Returns how many were; 404 if the upload was ended. */
async function addPiece(sql: Sql, { id, lease }: Upload, number: number): Promise<number> {
  const [upload] = await sql<{ count: number }[]>`
    update uploads set pieces = array(select distinct unnest(pieces || ${number}::integer) order by 1)
    where id = ${id} and lease = ${lease} returning cardinality(pieces) as count`
  if (!upload) throw new ApiError('not-found')
  return upload.count
}

async function getOrCreateUpload(services: ApiServices, stationId: number, chunk: Chunk): Promise<string> {
  const { target, totalBytes, clientKey } = chunk
  const known = await findByClientKey(services.sql, stationId, clientKey)
  if (known) return known.id
  const size = { sizeBytes: totalBytes, sizeField: 'flowTotalSize' }
  const given = { stationId, path: target, ...size, playlistIds: [], clientKey }
  return (await createUpload(services, given)).upload.id
}

async function finish(request: ApiRequest, services: ApiServices, upload: Upload): Promise<Reply> {
  const finished = await finishUpload(services, upload, {
    recordAudit: (tx, entry) => recordAudit(tx, request, entry)
  })
  return storedReply(finished)
}

export const flowRoutes = [find, send]
