import { extname, join, resolve } from 'node:path'

import type { Fragment, Sql } from '../../db/sql.ts'
import { ownerOf } from '../../outbound/networks.ts'
import { NotRegularFileError, openInside, OutsideRootsError } from '../../runtime/contained-files.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { ApiError, Overloaded } from '../../runtime/errors.ts'
import { openFairSemaphore } from '../../runtime/fair-semaphore.ts'
import { renderSong } from '../../station/now-playing.ts'
import { findVisibleStation, publicRequestOf } from '../auth/public-request.ts'
import { listSchema } from '../core/list.ts'
import { parseId } from '../core/parse.ts'
import type { ApiRequest, ApiRoute, SentFile } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { mediaFolderOf, resolveMediaFolder } from './media-folder.ts'
import { listSongs, songListParameters } from './song-list.ts'

/** The condition that the media `m` may be heard on demand. */
const isOnDemand = (sql: Sql, stationId: number): Fragment => sql`
  m.station_id = ${stationId} and m.remote_playlist_id is null and exists (
    select from playlist_tracks t join playlists p on p.id = t.playlist_id
    where t.media_id = m.id and p.station_id = ${stationId} and p.is_enabled and p.source = 'songs'
      and p.include_in_on_demand)`

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/ondemand',
  access: 'public',
  needsAddress: true,
  operation: {
    id: 'listOnDemandSongs',
    tag: 'On demand',
    summary: 'The songs that listeners may hear whenever they like',
    query: songListParameters,
    answer: listSchema({ $ref: '#/components/schemas/OnDemandSong' }),
    errors: [429]
  },
  async handle(request, services) {
    const { stationId, profile } = await findVisibleStation(publicRequestOf(request), services)
    const { BASE_URL: baseUrl } = services.config
    return listSongs(
      request,
      services,
      async () => {
        const folders = await foldersOf(services, stationId)
        return {
          name: `on demand ${stationId} ${folders?.real}`,
          condition: sql => sql`${isOnDemand(sql, stationId)} and ${mayBeSent(sql, folders)}`
        }
      },
      ({ id, song }) => ({
        track_id: String(id),
        media: renderSong(song, profile, 'rest', baseUrl),
        download_url: `/api/station/${stationId}/ondemand/download/${id}`
      })
    )
  }
}

/** A folder may be on a mount that hangs. */
const lookMs = 2_000

/** A station's media folder, and what that is without links. */
interface Folders {
  readonly named: string
  readonly real: string
}

/** Null where the media lie on no disk of ours, or a link leads out of the folders for storage. */
async function foldersOf(
  { publicReads: sql, config }: ApiServices,
  stationId: number
): Promise<Folders | null> {
  const named = await sql.begin(tx => mediaFolderOf(tx, stationId, config.DATA_DIR))
  if (named === null) return null
  const real = await withDeadline(lookMs, 'looking at a folder', () => resolveMediaFolder(named, config))
  return real === null ? null : { named, real }
}

/**
 * The condition that the media `m` have an address or lie in the media folder. A link may still lead a file
 * out of it.
 */
function mayBeSent(sql: Sql, folders: Folders | null): Fragment {
  const hasAddress = sql`m.path ~* '^https?://'`
  if (folders === null) return hasAddress
  const [named, real] = [join(folders.named, '/'), join(folders.real, '/')]
  return sql`(${hasAddress} or not starts_with(m.path, '/')
    or starts_with(m.path, ${named}) or starts_with(m.path, ${real}))`
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

const types: Readonly<Record<string, string>> = {
  '.mp3': 'audio/mpeg',
  '.flac': 'audio/flac',
  '.ogg': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.m4a': 'audio/mp4',
  '.aac': 'audio/aac',
  '.wav': 'audio/wav'
}

const download: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/ondemand/download/:media_id',
  access: 'public',
  needsAddress: true,
  operation: {
    id: 'downloadOnDemandSong',
    tag: 'On demand',
    summary: 'A song that listeners may hear whenever they like: the file, or a redirect to its address',
    answer: { type: 'string', format: 'binary' },
    contentTypes: ['audio/mpeg'],
    redirectsTo: 'The address of the song.'
  },
  async handle(request, services) {
    const { stationId } = await findVisibleStation(publicRequestOf(request), services)
    const { publicReads: sql } = services
    const [media] = await sql<{ path: string }[]>`
      select m.path from media m
      where ${isOnDemand(sql, stationId)} and m.id = ${parseId(request.params['media_id'])}`
    if (!media) throw new ApiError('not-found')
    if (/^https?:\/\//i.test(media.path)) return { status: 302, headers: { Location: media.path } }
    await takePermit(request)
    const { handle, size } = await openSong(services, stationId, media.path)
    request.onSettled(() => void handle.close())
    const type = types[extname(media.path).toLowerCase()] ?? 'application/octet-stream'
    return {
      file: { handle, size },
      headers: { 'Content-Type': type, 'Cache-Control': 'private, max-age=3600' }
    }
  }
}

/**
 * Waits until a file may be open for the request, until its answer is settled. Throws 503 where there are too
 * many.
 */
async function takePermit(request: ApiRequest): Promise<void> {
  const { permit, drop } = openFiles.acquire(ownerOf(request.address), 1_000)
  request.onSettled(drop)
  const granted = await permit
  if (typeof granted === 'string')
    throw new Overloaded(retryAfterSeconds, 'Too many files are requested at once: try again later.')
  request.onSettled(() => {
    granted.done()
    granted.release()
  })
}

/** Throws 404 for a file that is not there or lies elsewhere. */
async function openSong(services: ApiServices, stationId: number, path: string): Promise<SentFile> {
  const folders = await foldersOf(services, stationId)
  if (folders === null) throw new ApiError('not-found')
  const handle = await openInside(resolve(folders.named, path), [folders.real]).catch(asNotFound)
  const { size } = await handle.stat()
  return { handle, size }
}

const missingCodes: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'ELOOP',
  'ENAMETOOLONG',
  'ENXIO'
])

/** For listeners a file that must not or cannot be opened is not there. Other faults are the server's own. */
function asNotFound(error: unknown): never {
  const isMissing = error instanceof Error && 'code' in error && missingCodes.has(error.code)
  if (isMissing || error instanceof OutsideRootsError || error instanceof NotRegularFileError)
    throw new ApiError('not-found')
  throw error
}

export const onDemandRoutes = [list, download]
