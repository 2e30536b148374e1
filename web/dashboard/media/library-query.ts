import { callApi } from '../api/call-api.ts'
import type { FileRow } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import type { RowPage } from './row-pages.ts'

const sortColumns = ['path', 'title', 'artist', 'album', 'length', 'size', 'mtime'] as const
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

export const firstLibraryQuery: LibraryQuery = {
  folder: '',
  search: '',
  isFlat: false,
  filter: '',
  sort: 'path',
  isDescending: false
}

/** Loads a page of rows; numbers start at 0. `path` is that of the station. */
export function loadLibraryRows(
  path: StationPath,
  query: LibraryQuery,
  { page, pageSize, signal }: { page: number; pageSize: number; signal?: AbortSignal }
): Promise<RowPage<FileRow>> {
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
  return callApi('GET', `${path}/files/list?${parameters.toString()}`, signal ? { signal } : {})
}

const rowsPerRequest = 1_000
/** A library has at most this many rows in the list. */
const maxRequests = 500

/** Loads the rows from `first` to `last`, also those that are not shown. */
export async function loadLibraryRange(
  path: StationPath,
  query: LibraryQuery,
  [first, last]: readonly [number, number]
): Promise<FileRow[]> {
  const rows: FileRow[] = []
  const firstPage = Math.floor(first / rowsPerRequest)
  for (let page = firstPage; page * rowsPerRequest <= last && page - firstPage < maxRequests; page++)
    rows.push(...(await loadLibraryRows(path, query, { page, pageSize: rowsPerRequest })).rows)
  const offset = firstPage * rowsPerRequest
  return rows.slice(first - offset, last + 1 - offset)
}
