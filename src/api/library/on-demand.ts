import { join, resolve } from 'node:path'

import type { FileToSend } from '../../http/route.ts'
import { findMediaFolder, resolveAllowedMediaFolder } from '../../library/storage/media-folder.ts'
import { isWebUrl, addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import {
  NotRegularFileError,
  openInsideRoots,
  OutsideRootsError
} from '../../platform/runtime/contained-files.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { ApiError, errorCodeOf, Overloaded } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { getVisibleStation, toStationLookup } from '../auth/public-request.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { audioContentType } from './file-content.ts'
import { hasMediaIdentifierFragment, parseMediaIdentifier } from './media-identifier.ts'
import { publicSongListRoute } from './song-list.ts'

/** The condition that the media `m` are available on demand. */
const isOnDemand = (sql: Sql, stationId: number): Fragment => sql`
  m.station_id = ${stationId} and m.remote_playlist_id is null and exists (
    select from playlist_tracks t join playlists p on p.id = t.playlist_id
    where t.media_id = m.id and p.station_id = ${stationId} and p.is_enabled and p.source = 'songs'
      and p.include_in_on_demand)`

const list = publicSongListRoute({
  path: '/api/station/:station_id/ondemand',
  operation: { id: 'listOnDemandSongs', tag: 'On demand', summary: 'The songs that are available on demand' },
  element: 'OnDemandSong',
  async openFilter(services, stationId) {
    const folder = await openMediaFolder(services, stationId)
    return {
      countKey: `on demand ${stationId} ${folder?.realPath}`,
      condition: sql => sql`${isOnDemand(sql, stationId)} and ${isAllowedPath(sql, folder)}`
    }
  },
  render: (id, media, stationId) => ({
    track_id: String(id),
    media,
    download_url: `/api/station/${stationId}/ondemand/download/${id}`
  })
})

/** The folder may be on a file system that hangs. */
const folderTimeoutMs = 2_000

/**
 * Returns the media folder as configured and with links resolved; null if the media are stored remotely or
 * outside the folders allowed for storage.
 */
async function openMediaFolder(services: ApiServices, stationId: number) {
  const { publicReads: sql, config } = services
  const path = await sql.begin(tx => findMediaFolder(tx, stationId, config.DATA_DIR))
  if (path === null) return null
  const realPath = await withDeadline(folderTimeoutMs, 'resolving a media folder', () =>
    resolveAllowedMediaFolder(path, config)
  )
  return realPath === null ? null : { path, realPath }
}

/** The condition that the media `m` have a URL or a path in the media folder; links are not checked. */
function isAllowedPath(sql: Sql, folder: Awaited<ReturnType<typeof openMediaFolder>>): Fragment {
  const hasUrl = sql`m.path ~* '^https?://'`
  if (folder === null) return hasUrl
  return sql`(${hasUrl} or not starts_with(m.path, '/') or starts_with(m.path, ${join(folder.path, '/')})
    or starts_with(m.path, ${join(folder.realPath, '/')}))`
}

/** A file is open while it is sent. */
const openFiles = openFairSemaphore({
  total: 200,
  perOwner: 4,
  waitingPerOwner: 8,
  waiting: 400,
  waitMs: 6_000
})
const retryAfterSeconds = 2

const download = apiRoute('GET', '/api/station/:station_id/ondemand/download/:media_id', 'public', {
  id: 'downloadOnDemandSong',
  tag: 'On demand',
  summary: 'A song that is available on demand: the file, or a redirect to its URL',
  response: { type: 'string', format: 'binary' },
  contentTypes: ['audio/mpeg'],
  redirectsTo: 'The URL of the song.',
  errors: [404],
  needsAddress: true,
  async handle(request, services) {
    const { stationId } = await getVisibleStation(toStationLookup(request), services)
    const { publicReads: sql } = services
    const name = parseMediaIdentifier(request.params['media_id'])
    const [media] = await sql<{ path: string }[]>`
      select m.path from media m
      where ${isOnDemand(sql, stationId)} and ${hasMediaIdentifierFragment(sql, { ...name, songId: '' })}`
    if (!media) throw new ApiError('not-found')
    if (isWebUrl(media.path)) return { status: 302, headers: { Location: media.path } }
    await acquireFilePermit(request)
    const file = await openSong(services, stationId, media.path)
    request.onSettled(() => void file.handle.close())
    return {
      file,
      headers: { 'Content-Type': audioContentType(media.path), 'Cache-Control': 'private, max-age=3600' }
    }
  }
})

/** Waits for a permit to open a file, held until the response is sent. Throws 503 if too many are waiting. */
async function acquireFilePermit(request: ApiRequest): Promise<void> {
  const { permit, drop } = openFiles.acquire(addressLimitKeyOf(request.address), 1_000)
  request.onSettled(drop)
  const granted = await permit
  if (typeof granted === 'string')
    throw new Overloaded(retryAfterSeconds, 'Too many concurrent downloads: try again later.')
  request.onSettled(() => {
    granted.done()
    granted.release()
  })
}

/** Throws 404 if the file does not exist, cannot be opened or is outside the media folder. */
async function openSong(services: ApiServices, stationId: number, path: string): Promise<FileToSend> {
  const folder = await openMediaFolder(services, stationId)
  if (folder === null) throw new ApiError('not-found')
  const handle = await openInsideRoots(resolve(folder.path, path), [folder.realPath]).catch(throwNotFound)
  const { size } = await handle.stat()
  return { handle, size }
}

const missingCodes = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'ENXIO']

function throwNotFound(error: unknown): never {
  const isMissing = missingCodes.includes(errorCodeOf(error))
  if (isMissing || error instanceof OutsideRootsError || error instanceof NotRegularFileError)
    throw new ApiError('not-found')
  throw error
}

export const onDemandRoutes = [list, download]
