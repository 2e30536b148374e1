import { html, nothing, type PropertyValues } from 'lit'
import { live } from 'lit/directives/live.js'
import { repeat } from 'lit/directives/repeat.js'

import type { FileRow } from '../api/responses.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { mediaLink } from '../ui/route.ts'
import { type LibraryQuery, loadLibraryRange, loadLibraryRows } from './library-query.ts'
import { rowNameOf } from './library-row.ts'
import { libraryColumnCount, emptyRowCells, libraryHeadCells, libraryRowCells } from './list-cells.ts'
import { dispatchListCommand } from './list-command.ts'
import { handleListKey } from './list-keys.ts'
import { openListSelection } from './list-selection.ts'
import { parentFolder, watchMissingFolder } from './missing-folder.ts'
import { openRowPages } from './row-pages.ts'
import { computeRowWindow, scrollTopToReveal, type RowRange } from './row-window.ts'

const pageSize = 200
const rowHeight = 44

/** Files and folders as a grid of any length: only the visible rows are loaded and rendered. */
export class MediaFileList extends StationElement {
  static override properties = reactiveProperties<MediaFileList>(
    'query',
    'playlistNames',
    'scrollTopPixels',
    'viewHeight'
  )
  declare query: LibraryQuery
  playlistNames: ReadonlyMap<number, string> = new Map()
  scrollTopPixels = 0
  viewHeight = 600
  #hasFocus = false
  readonly #rows = openRowPages<FileRow>(this, {
    pageSize,
    load: (page, signal) => loadLibraryRows(this.path, this.query, { page, pageSize, signal })
  })
  readonly #selection = openListSelection(this, {
    rows: this.#rows,
    load: range => loadLibraryRange(this.path, this.query, range)
  })
  readonly #missing = watchMissingFolder(this, {
    path: () => this.path,
    folder: () => (this.#rows.total === 0 && this.#showsFolder ? this.query.folder : null)
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
    this.#selection.clear()
  }

  get #viewport(): HTMLElement | null {
    return this.querySelector<HTMLElement>('.media-scroll')
  }

  get #range(): RowRange {
    const total = this.#rows.total ?? 0
    return computeRowWindow({ scrollTop: this.scrollTopPixels, height: this.viewHeight, rowHeight, total })
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('query')) {
      this.#rows.restart()
      this.#selection.reset()
      if (this.#viewport !== null) this.#viewport.scrollTop = 0
      this.scrollTopPixels = 0
    }
    this.#rows.show(this.#range)
    this.#selection.selectPending()
    this.#selection.dropMissing()
  }

  protected override firstUpdated(): void {
    if (this.#viewport !== null) this.#resizes.observe(this.#viewport)
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('query')) this.#selection.report()
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
        aria-colcount=${libraryColumnCount}
        aria-busy=${isLoading}
      >
        <div role="rowgroup">
          <div class="media-head" role="row" aria-rowindex="1">
            ${libraryHeadCells(this.query, column => dispatchListCommand(this, { command: 'sort', column }))}
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
      ${total === 0 ? this.#emptyView() : nothing}`
  }

  /** Whether the list shows a folder below the top, not what was found in it. */
  get #showsFolder(): boolean {
    const { search, filter, folder } = this.query
    return search === '' && filter === '' && folder !== ''
  }

  #emptyView() {
    const { search, filter, folder } = this.query
    if (this.#missing.isMissing) {
      const parent = parentFolder(folder)
      return html`<p class="trouble" role="alert">
        The folder does not exist.
        <a href=${mediaLink(String(this.station), parent, null)} dir="auto"
          >${parent === '' ? 'All files' : parent}</a
        >
      </p>`
    }
    if (search !== '' || filter !== '') return html`<p class="quiet">No file matches.</p>`
    return html`<p class="quiet">
      ${folder === '' ? 'There are no files yet. Upload some music.' : 'The folder is empty.'}
    </p>`
  }

  #rowsView(total: number) {
    const { first, end } = this.#range
    const indexes = Array.from({ length: end - first }, (_, offset) => first + offset)
    // The row with the focus stays, so that the keyboard continues there after scrolling away.
    const focused = Math.min(this.#selection.focused, total - 1)
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
        ${emptyRowCells}
      </div>`
    return html`<div
      class="media-row"
      role="row"
      aria-rowindex=${index + 2}
      aria-selected=${this.#selection.has(row)}
      tabindex=${tabIndex}
      data-type=${row.type}
      .style=${style}
      @click=${(event: MouseEvent) => this.#selection.click(event, row, index)}
      @dblclick=${() => dispatchListCommand(this, { command: 'open', row })}
    >
      ${this.#markView(row, index)}
      ${libraryRowCells(row, { playlistNames: this.playlistNames, folder: this.query.folder })}
    </div>`
  }

  /** The checkbox of a row on touch screens, which have no keys to select several rows. */
  #markView(row: FileRow, index: number) {
    return html`<span
      class="media-mark"
      role="gridcell"
      @click=${(event: Event) => event.stopPropagation()}
      @dblclick=${(event: Event) => event.stopPropagation()}
      ><label
        ><input
          type="checkbox"
          tabindex="-1"
          aria-label=${`Select ${rowNameOf(row)}`}
          .checked=${live(this.#selection.has(row))}
          @change=${() => this.#selection.toggle(row, index)} /></label
    ></span>`
  }

  readonly #onScroll = ({ currentTarget }: Event) => {
    if (currentTarget instanceof HTMLElement) this.scrollTopPixels = currentTarget.scrollTop
  }

  readonly #onFocusOut = ({ relatedTarget }: FocusEvent) => {
    // A row that is removed loses the focus to nothing.
    if (relatedTarget instanceof Node && !(this.#viewport?.contains(relatedTarget) ?? false))
      this.#hasFocus = false
  }

  readonly #onKeyDown = (event: KeyboardEvent) => {
    handleListKey(event, {
      list: this,
      selection: this.#selection,
      total: this.#rows.total ?? 0,
      row: this.#rows.get(this.#selection.focused),
      pageRows: Math.floor(this.viewHeight / rowHeight),
      onMove: index => this.#reveal(index)
    })
  }

  #reveal(index: number): void {
    this.#hasFocus = true
    const viewport = this.#viewport
    if (viewport === null) return
    const { scrollTop } = viewport
    const total = this.#rows.total ?? 0
    viewport.scrollTop = scrollTopToReveal(index, { scrollTop, height: this.viewHeight, rowHeight, total })
    this.scrollTopPixels = viewport.scrollTop
  }
}
