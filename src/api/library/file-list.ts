import { refuseField } from '../../platform/runtime/errors.ts'
import { readFolderPlaylists } from '../../stores/db/library/playlist-folders.ts'
import { findStoredFolder } from '../../stores/db/library/stored-names.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseQueryInteger } from '../core/parse.ts'
import { resourceRecordSchema } from '../core/resource-routes.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'
import { fileReads, filesResource } from './files.ts'
import { folderPrefix, lastPathPart } from './media-paths.ts'

/** The most entries of a page. */
export const maxFolderRows = 1_000
const maxFolders = 10_000
const defaultRows = 25

const sortColumns = {
  path: 'path',
  title: 'title',
  artist: 'artist',
  album: 'album',
  genre: 'genre',
  length: 'duration_ms',
  size: 'size_bytes',
  mtime: 'modified_ms'
} as const

type Sort = keyof typeof sortColumns
const isSort = (text: string): text is Sort => Object.hasOwn(sortColumns, text)

const filterConditions = {
  'no-playlist': (sql: Sql) => sql`not exists (select from playlist_tracks t where t.media_id = m.id)`,
  'no-cover': (sql: Sql) => sql`artwork_hash is null`,
  unprocessable: (sql: Sql) => sql`duration_ms = 0`
} as const

type Filter = keyof typeof filterConditions
const isFilter = (text: string): text is Filter => Object.hasOwn(filterConditions, text)

const fileRowSchema = namedSchema(
  'FileRow',
  'A song or a folder in a folder of the library.',
  exactObject({
    path: string,
    path_short: { ...string, description: 'The name without its folder.' },
    text: string,
    type: { ...string, enum: ['media', 'directory'] },
    timestamp: unixSeconds,
    size: int64,
    media: { oneOf: [resourceRecordSchema(filesResource), { type: 'null' }] },
    dir: {
      oneOf: [
        exactObject({
          playlists: {
            ...arrayOf(int64),
            description: 'Those to which the folder, or one above it, is assigned.'
          }
        }),
        { type: 'null' }
      ]
    },
    links: exactObject({ download: string, play: string })
  })
)

interface Place {
  readonly stationId: number
  /** With a slash at the end; `""` at the top. */
  readonly prefix: string
  readonly search: string
  readonly filter: Filter | null
  /** Null: files in any playlist or none. */
  readonly playlistId: number | null
  /** Whether songs below the folder are listed, and no folders. */
  readonly isFlat: boolean
}

const route = apiRoute('GET', '/api/station/:station_id/files/list', 'view station management', {
  id: 'listFolder',
  tag: 'Files',
  summary: 'The folders and songs of a folder; with searchPhrase the songs in it and below it',
  query: {
    currentDirectory: { ...string, description: 'The folder; empty: the top.' },
    searchPhrase: string,
    current: { type: 'integer', minimum: 1, description: 'The page.' },
    rowCount: {
      type: 'integer',
      minimum: 1,
      maximum: maxFolderRows,
      description: `Default: ${defaultRows}.`
    },
    sort: { ...string, enum: Object.keys(sortColumns) },
    sortOrder: { ...string, enum: ['ASC', 'DESC'] },
    filter: { ...string, enum: Object.keys(filterConditions) },
    playlist: { type: 'integer', minimum: 1, description: 'Only songs of this playlist.' },
    flat: {
      ...string,
      enum: ['true', 'false'],
      description: 'true: songs below the folder, without folders.'
    }
  },
  responseRecord: 'FileRow',
  response: exactObject({
    page: int64,
    per_page: int64,
    total: int64,
    total_pages: int64,
    links: exactObject({ first: string, previous: string, next: string, last: string }),
    rows: arrayOf(fileRowSchema)
  }),
  async handle(request, services) {
    const { reads: sql } = services
    const station = getRequestStation(request)
    const { query } = request
    const text = (name: string) => query.get(name) ?? ''
    if (/[\0]/.test(text('currentDirectory') + text('searchPhrase')))
      refuseField('currentDirectory', 'invalid_format', 'contains characters that are not allowed.')
    const page = parseQueryInteger(query, 'current', { least: 1, most: 1_000_000, fallback: 1 })
    const size = parseQueryInteger(query, 'rowCount', {
      least: 1,
      most: maxFolderRows,
      fallback: defaultRows
    })
    const sort = text('sort') || 'path'
    if (!isSort(sort))
      refuseField('sort', 'unknown', `must be one of ${Object.keys(sortColumns).join(', ')}.`)
    const filter = text('filter') || null
    if (filter !== null && !isFilter(filter))
      refuseField('filter', 'unknown', `must be one of ${Object.keys(filterConditions).join(', ')}.`)
    const playlist = parseQueryInteger(query, 'playlist', { least: 1, most: 2 ** 31 - 1, fallback: 0 })
    const playlistId = playlist === 0 ? null : playlist
    const place: Place = {
      stationId: station.id,
      prefix: await storedPrefix(sql, station.id, text('currentDirectory')),
      search: text('searchPhrase'),
      filter,
      playlistId,
      isFlat: text('searchPhrase') !== '' || filter !== null || playlistId !== null || text('flat') === 'true'
    }
    const isDescending = text('sortOrder').toUpperCase() === 'DESC'
    const folders = place.isFlat ? [] : await findSubfolders(sql, place)
    const condition = mediaCondition(sql, place)
    const from = (page - 1) * size
    const shownFolders = folders.slice(from, from + size)
    const direction = isDescending ? sql`desc` : sql``
    // One scan: a search reads the text of every song.
    const ids = await sql<{ id: number; count: number }[]>`
      select id, count(*) over ()::integer as count from media m where ${condition}
      order by ${sql(sortColumns[sort])} ${direction}, id
      offset ${Math.max(0, from - folders.length)} limit ${size - shownFolders.length}`
    const total = folders.length + (ids[0]?.count ?? (await countSongs(sql, condition)))
    const records = await fileReads.readMany(
      services,
      request,
      station,
      ids.map(({ id }) => id)
    )
    const base = `/api/station/${station.id}`
    const pages = Math.max(1, Math.ceil(total / size))
    const link = (number: number) => {
      const linked = new URLSearchParams(query)
      linked.set('current', String(number))
      return `${services.config.BASE_URL}${request.path}?${linked.toString()}`
    }
    return jsonReply({
      page,
      per_page: size,
      total,
      total_pages: pages,
      links: {
        first: link(1),
        previous: link(Math.max(1, Math.min(page - 1, pages))),
        next: link(Math.min(page + 1, pages)),
        last: link(pages)
      },
      rows: [
        ...(await renderFolders(
          sql,
          station.id,
          shownFolders.map(folder => place.prefix + folder)
        )),
        ...records.map(record => renderMedia(record, base))
      ]
    })
  }
})

/**
 * The collation of a search. For a pattern in ASCII, that of ASCII suffices: it is that of the index `media_by_text`,
 * and without the index a third faster.
 */
const searchCollation = (sql: Sql, search: string) =>
  /^\p{ASCII}*$/u.test(search) ? sql`collate "C"` : sql``

/** For pages without songs: those beyond the end, or full of folders. */
async function countSongs(sql: Sql, condition: Fragment): Promise<number> {
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::integer as count from media m where ${condition}`
  return counted?.count ?? 0
}

function mediaCondition(sql: Sql, place: Place): Fragment {
  const { stationId, prefix, search, filter, playlistId, isFlat } = place
  const own = sql`m.station_id = ${stationId} and m.remote_playlist_id is null`
  const extra = filter === null ? sql`` : sql`and ${filterConditions[filter](sql)}`
  if (!isFlat) return sql`${own} and (media_folder(m.path) collate "C") = ${prefix}`
  const below = prefix === '' ? sql`` : sql`and starts_with(m.path, ${prefix})`
  const contains = containsTextFragment(sql, search)
  const found =
    search === ''
      ? sql``
      : sql`and (m.title || chr(10) || m.artist || chr(10) || m.album || chr(10) || m.path)
          ${searchCollation(sql, search)} ${contains}`
  const inPlaylist =
    playlistId === null
      ? sql``
      : sql`and exists (select from playlist_tracks t where t.media_id = m.id and t.playlist_id = ${playlistId})`
  return sql`${own} ${below} ${found} ${extra} ${inPlaylist}`
}

/**
 * The names of the folders in a folder. Each step reads one entry of an index, so it takes as long as there are
 * folders, not files. The first part of an absolute path or a URL is a folder at the top.
 */
export async function findSubfolders(
  sql: Sql,
  { stationId, prefix }: Pick<Place, 'stationId' | 'prefix'>
): Promise<string[]> {
  const nextAfter = (after: Fragment) => sql`(
    select ${prefix} || substring(substr(f, length(${prefix}) + 1) from '^(?:https?://|/)?[^/]*') || '/' from (
      select media_folder(path) collate "C" as f from media
      where station_id = ${stationId} and remote_playlist_id is null
        and (media_folder(path) collate "C") > ${after} collate "C"
        and starts_with(media_folder(path), ${prefix})
      order by (media_folder(path) collate "C") limit 1) next)`
  const rows = await sql<{ name: string }[]>`
    with recursive folders (f, n) as (
      select ${nextAfter(sql`${prefix}`)}, 1
      union all
      select ${nextAfter(sql`(folders.f || ${'\u{10FFFF}'})`)}, n + 1 from folders
      where folders.f is not null and n < ${maxFolders}
    )
    select substr(f, length(${prefix}) + 1) as name from folders where f is not null
    union
    select split_part(substr(path, length(${prefix}) + 1), '/', 1) || '/' from media_folders
    where station_id = ${stationId} and starts_with(path || '/', ${prefix}) and path || '/' <> ${prefix}
    order by 1 limit ${maxFolders}`
  return rows.map(({ name }) => name.slice(0, -1)).filter(name => name !== '')
}

async function renderFolders(sql: Sql, stationId: number, paths: readonly string[]) {
  if (paths.length === 0) return []
  const playlists = await readFolderPlaylists(sql, stationId, paths)
  return paths.map(path => renderFolder(path, [...new Set(playlists.get(path)?.map(({ id }) => id))]))
}

const renderFolder = (path: string, playlists: readonly number[]) => ({
  path,
  path_short: lastPathPart(path),
  text: lastPathPart(path),
  type: 'directory',
  timestamp: 0,
  size: 0,
  media: null,
  dir: { playlists },
  links: { download: '', play: '' }
})

function renderMedia(record: Readonly<Record<string, unknown>>, base: string) {
  const path = String(record['path'])
  return {
    path,
    path_short: lastPathPart(path),
    text: record['text'],
    type: 'media',
    timestamp: record['mtime'],
    size: record['size'],
    media: record,
    dir: null,
    links: {
      download: `${base}/files/download?file=${encodeURIComponent(path)}`,
      play: `${base}/file/${String(record['id'])}/play`
    }
  }
}

/** The prefix of a folder as it is stored. */
async function storedPrefix(sql: Sql, stationId: number, folder: string): Promise<string> {
  const prefix = folderPrefix(folder)
  const isPlain = /^\p{ASCII}*$/u.test(prefix)
  return folderPrefix((!isPlain && (await findStoredFolder(sql, stationId, prefix.slice(0, -1)))) || prefix)
}

const directories = apiRoute('GET', '/api/station/:station_id/files/directories', 'view station management', {
  id: 'listDirectories',
  tag: 'Files',
  summary: 'The folders in a folder',
  query: { currentDirectory: { ...string, description: 'The folder; empty: the top.' } },
  response: exactObject({ rows: arrayOf(exactObject({ name: string, path: string })) }),
  async handle(request, { reads: sql }) {
    const folder = request.query.get('currentDirectory') ?? ''
    if (folder.includes('\0'))
      refuseField('currentDirectory', 'invalid_format', 'contains characters that are not allowed.')
    const stationId = getRequestStation(request).id
    const prefix = await storedPrefix(sql, stationId, folder)
    const names = await findSubfolders(sql, { stationId, prefix })
    return jsonReply({ rows: names.map(name => ({ name, path: prefix + name })) })
  }
})

export const fileListRoutes = [route, directories]
