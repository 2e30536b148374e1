import { html, nothing } from 'lit'

import { formatDuration } from '../../elements/time-text.ts'
import type { FileRow } from '../api/responses.ts'
import { buttonView } from '../ui/controls.ts'
import type { LibraryQuery, SortColumn } from './library-query.ts'
import { rowNameOf, folderOfPath } from './library-row.ts'
import { formatBytes } from './size-text.ts'

/** The columns of the list, with the CSS class of their cells. */
const columns: readonly (readonly [SortColumn | 'playlists', title: string, style: string])[] = [
  ['title', 'Title', 'media-title'],
  ['artist', 'Artist', 'media-wide'],
  ['album', 'Album', 'media-wide'],
  ['playlists', 'Playlists', 'media-wide'],
  ['length', 'Length', 'media-number'],
  ['size', 'Size', 'media-number media-wide'],
  ['mtime', 'Changed', 'media-number media-wide']
]
export const libraryColumnCount = columns.length

/** The titles of the columns, which sort the list. */
export const libraryHeadCells = (
  { sort, isDescending }: Pick<LibraryQuery, 'sort' | 'isDescending'>,
  onSort: (column: SortColumn) => void
) =>
  columns.map(([column, title, style]) => {
    if (column === 'playlists') return html`<span class=${style} role="columnheader">${title}</span>`
    const isSorted = sort === column
    const direction = isDescending ? 'descending' : 'ascending'
    return html`<span class=${style} role="columnheader" aria-sort=${isSorted ? direction : 'none'}>
      ${buttonView(
        html`${title}<span aria-hidden="true">${isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span>`,
        () => onSort(column),
        { style: 'link' }
      )}
    </span>`
  })

interface CellsOptions {
  readonly playlistNames: ReadonlyMap<number, string>
  /** The folder that the list shows: files in others are shown with theirs. */
  readonly folder: string
}

/** The cells of a file or folder. */
export const libraryRowCells = (row: FileRow, options: CellsOptions) =>
  row.media === null && row.type === 'directory' ? folderCells(row) : fileCells(row, options)

/** The cells of a row that is not loaded. */
export const emptyRowCells = html`<span class="media-title quiet" role="gridcell" aria-colindex="1">…</span>`

const folderCells = (row: FileRow) =>
  html`<span class="media-title" role="gridcell" dir="auto" aria-colspan=${libraryColumnCount}
    ><span class="visually-hidden">Folder </span>${row.path_short}</span
  >`

function fileCells(row: FileRow, { playlistNames, folder }: CellsOptions) {
  const { media, size, timestamp } = row
  const playlists = media?.playlists.map(id => playlistNames.get(id) ?? `#${id}`).join(', ') ?? ''
  const isElsewhere = folderOfPath(row.path) !== folder
  return html`<span class="media-title" role="gridcell" dir="auto" title=${row.path}
      >${rowNameOf(row)}${isElsewhere ? html` <small class="quiet">${folderOfPath(row.path)}</small>` : nothing}</span
    >
    <span class="media-wide" role="gridcell" dir="auto">${media?.artist}</span>
    <span class="media-wide" role="gridcell" dir="auto">${media?.album}</span>
    <span class="media-wide" role="gridcell" dir="auto" title=${playlists}>${playlists}</span>
    <span class="media-number" role="gridcell"
      >${media === null || media.length === 0 ? '' : formatDuration(media.length * 1_000)}</span
    >
    <span class="media-number media-wide" role="gridcell"
      >${size === null || size === 0 ? '' : formatBytes(size)}</span
    >
    <span class="media-number media-wide" role="gridcell"
      >${timestamp === null || timestamp === 0 ? '' : formatDay(timestamp)}</span
    >`
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const formatDay = (seconds: number) => dayFormat.format(seconds * 1_000)
