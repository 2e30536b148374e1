import { html, nothing, type PropertyValues } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { formatDuration } from '../../elements/time-text.ts'
import { notifyError } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { formatNumber, isolateBidi } from '../ui/text.ts'
import { keyOf, type LibraryRow, nameOf, parentOf } from './library-row.ts'
import { type LibraryQuery, loadRange, loadRows, type SortColumn } from './library.ts'
import { openRowPages } from './row-pages.ts'
import { computeWindow, revealRow, type RowRange } from './row-window.ts'
import {
  moveFocus,
  noSelection,
  rangeFromAnchor,
  type Selection,
  selectOnly,
  selectRange,
  toggleRow
} from './selection.ts'
import { formatBytes } from './size-text.ts'

/** What an operator asks for in the list. `row` is the one that has the focus. */
export type ListCommand =
  | { readonly command: 'open' | 'rename' | 'preview'; readonly row: LibraryRow }
  | { readonly command: 'delete' }
  | { readonly command: 'sort'; readonly column: SortColumn }
  | { readonly command: 'selected'; readonly selection: Selection; readonly only: LibraryRow | null }

/** Dispatched by the list; `detail` is the command. */
export const listCommandEvent = 'cuewire-list-command'

const pageSize = 200
const rowHeight = 44

/** The columns, with the CSS class of their cells. */
const columns: readonly (readonly [SortColumn | 'playlists', title: string, style: string])[] = [
  ['title', 'Title', 'media-title'],
  ['artist', 'Artist', 'media-wide'],
  ['album', 'Album', 'media-wide'],
  ['playlists', 'Playlists', 'media-wide'],
  ['length', 'Length', 'media-number'],
  ['size', 'Size', 'media-number media-wide'],
  ['mtime', 'Changed', 'media-number media-wide']
]

/** Files and folders as a grid of any length: only the visible rows are loaded and rendered. */
export class MediaList extends StationElement {
  static override properties = reactiveProperties('query', 'playlistNames', 'scrollTopPixels', 'viewHeight')
  declare query: LibraryQuery
  playlistNames: ReadonlyMap<number, string> = new Map()
  scrollTopPixels = 0
  viewHeight = 600
  #selection: Selection = noSelection
  #focused = 0
  #hasFocus = false
  /** The row to select once it is loaded; null if there is none. */
  #pendingIndex: number | null = null
  /** Another one makes a range that is being loaded obsolete. */
  #rangeId = 0
  readonly #rows = openRowPages<LibraryRow>(this, {
    pageSize,
    load: (page, signal) => loadRows(this.path, this.query, { page, pageSize, signal })
  })
  readonly #resizes = new ResizeObserver(() => {
    const { clientHeight } = this.#viewport ?? { clientHeight: 0 }
    if (clientHeight > 0) this.viewHeight = clientHeight
  })

  override connectedCallback(): void {
    super.connectedCallback()
    if (this.hasUpdated) this.#rows.refresh()
    if (this.#viewport !== null) this.#resizes.observe(this.#viewport)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#resizes.disconnect()
  }

  /** Reads the rows again, after they were changed. */
  refresh(): void {
    this.#rows.refresh()
  }

  clearSelection(): void {
    this.#select(noSelection)
  }

  get #viewport(): HTMLElement | null {
    return this.querySelector<HTMLElement>('.media-scroll')
  }

  get #range(): RowRange {
    const total = this.#rows.total ?? 0
    return computeWindow({ scrollTop: this.scrollTopPixels, height: this.viewHeight, rowHeight, total })
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('query')) {
      this.#rows.restart()
      this.#focused = 0
      this.#selection = noSelection
      this.#pendingIndex = null
      this.#rangeId += 1
      if (this.#viewport !== null) this.#viewport.scrollTop = 0
      this.scrollTopPixels = 0
    }
    this.#rows.show(this.#range)
    const row = this.#pendingIndex === null ? undefined : this.#rows.get(this.#pendingIndex)
    if (this.#pendingIndex !== null && row !== undefined)
      this.#select(selectOnly(keyOf(row), this.#pendingIndex))
  }

  protected override firstUpdated(): void {
    if (this.#viewport !== null) this.#resizes.observe(this.#viewport)
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('query')) this.#report()
    if (!this.#hasFocus) return
    const row = this.querySelector<HTMLElement>('.media-row[tabindex="0"]')
    if (row !== null && !row.contains(document.activeElement)) row.focus({ preventScroll: true })
  }

  protected override render() {
    const { total, error, isLoading } = this.#rows
    return html`<div
        class="media-grid"
        role="grid"
        aria-label="Media"
        aria-multiselectable="true"
        aria-rowcount=${(total ?? 0) + 1}
        aria-colcount=${columns.length}
        aria-busy=${isLoading}
      >
        <div role="rowgroup">
          <div class="media-head" role="row" aria-rowindex="1">
            ${columns.map(column => this.#headView(column))}
          </div>
        </div>
        <div
          class="media-scroll"
          role="rowgroup"
          @scroll=${this.#onScroll}
          @keydown=${this.#onKeyDown}
          @focusin=${() => (this.#hasFocus = true)}
          @focusout=${this.#onFocusOut}
        >
          <div class="media-space" role="presentation" .style=${`height: ${(total ?? 0) * rowHeight}px`}>
            ${total === null ? nothing : this.#rowsView(total)}
          </div>
        </div>
      </div>
      ${error === null ? nothing : html`<p class="trouble" role="alert">${error.message}</p>`}
      ${total === 0 ? html`<p class="quiet">${this.#emptyText}</p>` : nothing}`
  }

  get #emptyText(): string {
    const { search, filter, folder } = this.query
    if (search !== '' || filter !== '') return 'No file matches.'
    return folder === '' ? 'There are no files yet. Upload some music.' : 'The folder is empty.'
  }

  #headView([column, title, style]: (typeof columns)[number]) {
    if (column === 'playlists') return html`<span class=${style} role="columnheader">${title}</span>`
    const { sort, isDescending } = this.query
    const isSorted = sort === column
    const direction = isDescending ? 'descending' : 'ascending'
    return html`<span class=${style} role="columnheader" aria-sort=${isSorted ? direction : 'none'}>
      ${buttonView(
        html`${title}<span aria-hidden="true">${isSorted ? (isDescending ? ' ↓' : ' ↑') : ''}</span>`,
        () => this.#dispatch({ command: 'sort', column }),
        { style: 'link' }
      )}
    </span>`
  }

  #rowsView(total: number) {
    const { first, end } = this.#range
    const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
    // The row with the focus stays, so that the keyboard continues there after scrolling away.
    const focused = Math.min(this.#focused, total - 1)
    if (focused >= 0 && focused < first) indexes.unshift(focused)
    if (focused >= end) indexes.push(focused)
    // The elements of rows that leave the window show the rows that enter it: that is faster than new ones.
    const slots = end - first
    return repeat(
      indexes,
      index => (index < first || index >= end ? 'away' : index % slots),
      index => this.#rowView(index, index === focused)
    )
  }

  #rowView(index: number, isFocused: boolean) {
    const row = this.#rows.get(index)
    const style = `transform: translateY(${index * rowHeight}px)`
    const tabIndex = isFocused ? '0' : '-1'
    if (row === undefined)
      return html`<div
        class="media-row"
        role="row"
        aria-rowindex=${index + 2}
        tabindex=${tabIndex}
        .style=${style}
      >
        <span class="media-title quiet" role="gridcell" aria-colindex="1">…</span>
      </div>`
    const isSelected = this.#selection.keys.has(keyOf(row))
    return html`<div
      class="media-row"
      role="row"
      aria-rowindex=${index + 2}
      aria-selected=${isSelected}
      tabindex=${tabIndex}
      data-type=${row.type}
      .style=${style}
      @click=${(event: MouseEvent) => this.#onClick(event, row, index)}
      @dblclick=${() => this.#dispatch({ command: 'open', row })}
    >
      ${row.media === null && row.type === 'directory' ? folderCells(row) : this.#fileCells(row)}
    </div>`
  }

  #fileCells(row: LibraryRow) {
    const { media, size, timestamp } = row
    const playlists = media?.playlists.map(id => this.playlistNames.get(id) ?? `#${id}`).join(', ') ?? ''
    const isElsewhere = parentOf(row.path) !== this.query.folder
    return html`<span class="media-title" role="gridcell" dir="auto" title=${row.path}
        >${nameOf(row)}${isElsewhere ? html` <small class="quiet">${parentOf(row.path)}</small>` : nothing}</span
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

  readonly #onScroll = ({ currentTarget }: Event) => {
    if (currentTarget instanceof HTMLElement) this.scrollTopPixels = currentTarget.scrollTop
  }

  readonly #onFocusOut = ({ relatedTarget }: FocusEvent) => {
    // A row that is removed loses the focus to nothing.
    if (relatedTarget instanceof Node && !(this.#viewport?.contains(relatedTarget) ?? false))
      this.#hasFocus = false
  }

  #onClick(event: MouseEvent, row: LibraryRow, index: number): void {
    this.#focused = index
    if (event.shiftKey) return this.#extendTo(index)
    const isToggle = event.ctrlKey || event.metaKey
    const key = keyOf(row)
    this.#select(isToggle ? toggleRow(this.#selection, key, index) : selectOnly(key, index))
  }

  readonly #onKeyDown = (event: KeyboardEvent) => {
    const total = this.#rows.total ?? 0
    const row = this.#rows.get(this.#focused)
    const isCommand = event.ctrlKey || event.metaKey
    const target = moveFocus(event.key, this.#focused, total, Math.floor(this.viewHeight / rowHeight))
    if (target !== null) this.#moveTo(target, event)
    else if (event.key === 'a' && isCommand) this.#selectAll()
    else if (isCommand || event.altKey) return
    else if (event.key === 'Escape' && this.#selection.keys.size > 0) this.clearSelection()
    else if (event.key === 'Delete') this.#dispatch({ command: 'delete' })
    else if (row === undefined) return
    else if (event.key === ' ') this.#select(toggleRow(this.#selection, keyOf(row), this.#focused))
    else if (event.key === 'Enter') this.#dispatch({ command: 'open', row })
    else if (event.key === 'F2') this.#dispatch({ command: 'rename', row })
    else if (event.key === 'p') this.#dispatch({ command: 'preview', row })
    else return
    event.preventDefault()
  }

  /** Moves the focus; without Ctrl the row is selected as well, if it is loaded. */
  #moveTo(index: number, event: KeyboardEvent): void {
    this.#focused = index
    this.#hasFocus = true
    const viewport = this.#viewport
    if (viewport !== null) {
      const { scrollTop } = viewport
      const total = this.#rows.total ?? 0
      viewport.scrollTop = revealRow(index, { scrollTop, height: this.viewHeight, rowHeight, total })
      this.scrollTopPixels = viewport.scrollTop
    }
    if (event.shiftKey) this.#extendTo(index)
    else if (!event.ctrlKey && !event.metaKey) this.#pendingIndex = index
    this.requestUpdate()
  }

  #extendTo(index: number): void {
    const [first, last] = rangeFromAnchor(this.#selection, index)
    const loaded = Array.from({ length: last - first + 1 }, (_, offset) => this.#rows.get(first + offset))
    const known = loaded.filter(row => row !== undefined)
    if (known.length === loaded.length) this.#select(selectRange(this.#selection, known.map(keyOf)))
    else void this.#selectUnloaded([first, last])
  }

  #selectAll(): void {
    const total = this.#rows.total ?? 0
    if (total > 0) void this.#selectUnloaded([0, total - 1])
  }

  /** Loads the rows of a range before it is selected: a selection names files, not positions. */
  async #selectUnloaded(range: readonly [number, number]): Promise<void> {
    const id = (this.#rangeId += 1)
    try {
      const rows = await loadRange(this.path, this.query, range)
      if (id === this.#rangeId) this.#select(selectRange(this.#selection, rows.map(keyOf)))
    } catch (error) {
      notifyError(this, error)
    }
  }

  #select(selection: Selection): void {
    this.#rangeId += 1
    this.#pendingIndex = null
    this.#selection = selection
    this.requestUpdate()
    this.#report()
  }

  #report(): void {
    const selection = this.#selection
    const row = this.#rows.get(this.#selection.anchor)
    const isOnly = selection.keys.size === 1 && row !== undefined && selection.keys.has(keyOf(row))
    this.#dispatch({ command: 'selected', selection, only: isOnly ? row : null })
  }

  #dispatch(detail: ListCommand): void {
    this.dispatchEvent(new CustomEvent(listCommandEvent, { detail, bubbles: true }))
  }
}

const folderCells = (row: LibraryRow) =>
  html`<span class="media-title" role="gridcell" dir="auto" aria-colspan=${columns.length}
    ><span class="visually-hidden">Folder </span>${row.path_short}</span
  >`

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const formatDay = (seconds: number) => dayFormat.format(seconds * 1_000)

/** `3 of 50,000 selected` */
export const describeSelection = ({ keys }: Selection, name: string): string =>
  keys.size === 1 && name !== '' ? `“${isolateBidi(name)}”` : `${formatNumber(keys.size)} selected`
