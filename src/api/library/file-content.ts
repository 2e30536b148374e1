import { extname } from 'node:path'

import type { Reply } from '../../http/route.ts'
import { findStoredFile, type FileStore } from '../../library/storage/file-store.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import { type MediaStore, openMediaStore, toFileApiError } from '../../library/uploads/media-store.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { findStoredSongs } from '../../stores/db/library/stored-names.ts'
import { formatContentDisposition } from '../core/csv.ts'
import { type ApiRequest, apiRoute, getRequestStation } from '../core/route.ts'
import { string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { hasMediaIdentifierFragment, type MediaIdentifier, parseMediaIdentifier } from './media-identifier.ts'
import { lastPathPart } from './media-paths.ts'

const audioTypes: Readonly<Record<string, string>> = {
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.oga': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.flac': 'audio/flac',
  '.m4a': 'audio/mp4',
  '.mp4': 'audio/mp4',
  '.aac': 'audio/aac',
  '.wav': 'audio/wav'
}
const otherType = 'application/octet-stream'

/** The content type of an audio file, by its extension. */
export const audioContentType = (path: string): string => audioTypes[extname(path).toLowerCase()] ?? otherType

const pieceBytes = 256 * 1024
const errors = [404, 416, 501]

/** The OpenAPI description of routes that send audio with `sendMediaFile`. */
export const audioResponseDescription = {
  response: { type: 'string', format: 'binary' },
  contentTypes: [...new Set(Object.values(audioTypes)), otherType],
  errors,
  headers: ['range']
} as const

/** Sends a file of the media storage of a station, or the range of it that the request asks for. */
export const sendMediaFile = (
  request: ApiRequest,
  services: ApiServices,
  stationId: number,
  path: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<Reply> => sendFrom(request, () => openMediaStore(services, stationId), path, headers)

/** Sends a file of a storage as a download, or the range of it that the request asks for. */
export const sendStoredFile = (
  request: ApiRequest,
  open: () => Promise<Pick<MediaStore, 'files' | 'folder'>>,
  path: string,
  name: string
): Promise<Reply> =>
  sendFrom(request, open, path, {
    'Content-Type': otherType,
    'Content-Disposition': formatContentDisposition(name)
  })

async function sendFrom(
  request: ApiRequest,
  open: () => Promise<Pick<MediaStore, 'files' | 'folder'>>,
  path: string,
  headers: Readonly<Record<string, string>>
): Promise<Reply> {
  try {
    const { files, folder } = await open()
    const inner = toStoredPath(path, folder)
    const file = inner === null ? null : await findStoredFile(files, inner)
    if (file === null) throw new ApiError('not-found', 'The file is not in the media storage.')
    return rangeReply(request.headers['range'] ?? '', file.sizeBytes, files, file.path, {
      'Content-Type': audioContentType(file.path),
      'Accept-Ranges': 'bytes',
      'Cache-Control': 'private, no-store',
      ...headers
    })
  } catch (error) {
    throw toFileApiError(error, 'file')
  }
}

function rangeReply(
  range: string,
  size: number,
  files: FileStore,
  path: string,
  headers: Readonly<Record<string, string>>
): Reply {
  const source = (start: number, length: number) => ({
    size: length,
    read: (offset: number) => files.read(path, start + offset, Math.min(pieceBytes, length - offset))
  })
  const found = parseRange(range, size)
  if (found === null) return { headers, source: source(0, size) }
  const { start, end } = found
  return {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end}/${size}` },
    source: source(start, end - start + 1)
  }
}

/** Parses one range of bytes (RFC 9110, section 14); null for none and for several. Throws 416 outside the file. */
function parseRange(range: string, size: number): { readonly start: number; readonly end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim()) ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (start >= size || start > end) throw new ApiError('out-of-range', `The file has ${size} bytes.`)
  return { start, end }
}

async function getPath(
  { reads: sql }: ApiServices,
  stationId: number,
  name: MediaIdentifier
): Promise<string> {
  const [media] = await sql<{ path: string }[]>`
    select path from media m
    where station_id = ${stationId} and remote_playlist_id is null and ${hasMediaIdentifierFragment(sql, name)}
    order by id limit 1`
  if (!media) throw new ApiError('not-found')
  return media.path
}

const play = apiRoute('GET', '/api/station/:station_id/file/:id/play', 'view station management', {
  id: 'playFile',
  tag: 'Files',
  summary: 'The audio of a song by its id, unique id or song id, for editors; ranges are possible',
  ...audioResponseDescription,
  async handle(request, services) {
    const path = await getPath(
      services,
      getRequestStation(request).id,
      parseMediaIdentifier(request.params['id'])
    )
    return sendMediaFile(request, services, getRequestStation(request).id, path)
  }
})

const download = apiRoute('GET', '/api/station/:station_id/files/download', 'view station management', {
  id: 'downloadFile',
  tag: 'Files',
  summary: 'A song of the library as a file',
  query: { file: { ...string, description: 'Its path.' } },
  response: { type: 'string', format: 'binary' },
  contentTypes: [otherType],
  errors,
  headers: ['range'],
  async handle(request, services) {
    const path = request.query.get('file') ?? ''
    // Only what is in the library: the storage may have other files.
    const songs = path.includes('\0')
      ? null
      : await findStoredSongs(services.reads, getRequestStation(request).id, [path])
    const song = songs?.get(path)
    if (!song) throw new ApiError('not-found')
    return sendMediaFile(request, services, getRequestStation(request).id, song.path, {
      'Content-Type': otherType,
      'Content-Disposition': formatContentDisposition(lastPathPart(song.path))
    })
  }
})

export const fileContentRoutes = [play, download]
