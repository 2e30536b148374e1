import * as v from 'valibot'

import { callApi } from '../api/call-api.ts'
import type { RowPage } from './row-pages.ts'

const count = v.number()
const text = v.string()

/** A row of `api/station/{id}/files/list`. */
const rowSchema = v.object({
  path: text,
  path_short: text,
  type: v.picklist(['media', 'directory']),
  timestamp: v.nullable(count),
  size: v.nullable(count),
  media: v.nullable(
    v.object({
      id: count,
      unique_id: text,
      title: text,
      artist: text,
      album: text,
      length: count,
      playlists: v.array(count)
    })
  )
})
export type LibraryRow = v.InferOutput<typeof rowSchema>

const listSchema = v.object({ total: count, rows: v.array(rowSchema) })

export const sortColumns = ['path', 'title', 'artist', 'album', 'length', 'size', 'mtime'] as const
export type SortColumn = (typeof sortColumns)[number]

/** What the list shows, and its order. */
export interface LibraryQuery {
  /** '' is the top. */
  readonly folder: string
  readonly search: string
  /** Whether the files of all folders below are listed instead of the folders. */
  readonly isFlat: boolean
  /** '', a filter of the API, or the id of a playlist. */
  readonly filter: string
  readonly sort: SortColumn
  readonly isDescending: boolean
}

export const firstQuery: LibraryQuery = {
  folder: '',
  search: '',
  isFlat: false,
  filter: '',
  sort: 'path',
  isDescending: false
}

/** Loads a page of rows; numbers start at 0. `path` is that of the station. */
export function loadRows(
  path: string,
  query: LibraryQuery,
  { page, pageSize, signal }: { page: number; pageSize: number; signal?: AbortSignal }
): Promise<RowPage<LibraryRow>> {
  const parameters = new URLSearchParams({
    currentDirectory: query.folder,
    searchPhrase: query.search,
    current: String(page + 1),
    rowCount: String(pageSize),
    sort: query.sort,
    sortOrder: query.isDescending ? 'DESC' : 'ASC',
    ...(query.filter === '' ? {} : { [/^\d+$/.test(query.filter) ? 'playlist' : 'filter']: query.filter }),
    ...(query.isFlat ? { flat: 'true' } : {})
  })
  return callApi(listSchema, `${path}/files/list?${parameters.toString()}`, signal ? { signal } : {})
}

const rowsPerRequest = 1_000
/** A library has at most this many rows in the list. */
const maxRequests = 500

/** Loads the rows from `first` to `last`, also those that are not shown. */
export async function loadRange(
  path: string,
  query: LibraryQuery,
  [first, last]: readonly [number, number]
): Promise<LibraryRow[]> {
  const rows: LibraryRow[] = []
  const firstPage = Math.floor(first / rowsPerRequest)
  for (let page = firstPage; page * rowsPerRequest <= last && page - firstPage < maxRequests; page++)
    rows.push(...(await loadRows(path, query, { page, pageSize: rowsPerRequest })).rows)
  const offset = firstPage * rowsPerRequest
  return rows.slice(first - offset, last + 1 - offset)
}

/** Identifies a row in a selection. */
export const keyOf = ({ type, path }: LibraryRow) => `${type}:${path}`

/** The paths of a selection. */
export function parseKeys(keys: Iterable<string>): { files: string[]; dirs: string[] } {
  const all = [...keys]
  const pathsOf = (prefix: string) =>
    all.filter(key => key.startsWith(prefix)).map(key => key.slice(prefix.length))
  return { files: pathsOf('media:'), dirs: pathsOf('directory:') }
}

/** The title of a song, or the name of the file or folder. */
export const nameOf = ({ media, path_short: name }: LibraryRow) => media?.title || name

/** The folders on the way to a folder, with their paths. */
export function parseFolders(folder: string): { name: string; path: string }[] {
  // The first part of an absolute path or a URL is one folder.
  const [first = ''] = /^(?:https?:\/\/|\/)?[^/]*/.exec(folder) ?? []
  if (first === '') return []
  const names = folder
    .slice(first.length)
    .split('/')
    .filter(name => name !== '')
  return [first, ...names].map((name, index) => ({ name, path: [first, ...names.slice(0, index)].join('/') }))
}

/** The folder that contains a path; '' is the top. */
export const parentOf = (path: string) => path.split('/').slice(0, -1).join('/')
