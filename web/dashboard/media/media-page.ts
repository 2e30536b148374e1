import { html, nothing } from 'lit'

import { callAction } from '../api/call-api.ts'
import { confirmAction, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { adoptStyles, defineElements, reactiveProperties } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { isolateBidi } from '../ui/text.ts'
import { discardQuestion } from '../ui/unsaved-changes.ts'
import { type BatchAction, describeProgress, runBatch } from './batch-actions.ts'
import { describeDeletion } from './batch-requests.ts'
import { CueEditor } from './cue-editor.ts'
import { type LibraryRow, nameOf, parentOf, parseFolders } from './library-row.ts'
import { firstQuery, type LibraryQuery } from './library.ts'
import { MediaDetails } from './media-details.ts'
import { askPlaylists, askText } from './media-dialogs.ts'
import { describeSelection, type ListCommand, MediaList } from './media-list.ts'
import { playlistsSchema } from './media-record.ts'
import { saveMediaFile } from './media-request.ts'
import { type Preview, PreviewPlayer } from './preview-player.ts'
import { noSelection, type Selection } from './selection.ts'
import { MediaUpload } from './upload/media-upload.ts'

import styles from './media.css' with { type: 'text' }

adoptStyles(styles)

const searchDebounceMs = 50

/** The files of a station: list, upload, actions on many files, and the details of one. */
class MediaPage extends StationPage {
  static override properties = reactiveProperties(
    'query',
    'selection',
    'detailsId',
    'preview',
    'playhead',
    'progress'
  )
  query: LibraryQuery = firstQuery
  selection: Selection = noSelection
  detailsId: number | null = null
  preview: Preview | null = null
  playhead: number | null = null
  /** The progress of an action on many files; '' without one. */
  progress = ''
  /** The only selected row; null if there is none or several. */
  #only: LibraryRow | null = null
  #searchTimer: ReturnType<typeof setTimeout> | undefined
  readonly #actions = openActionRunner(this)
  readonly #playlists = this.poll('playlists', playlistsSchema, 60_000)
  #playlistNames: ReadonlyMap<number, string> = new Map()
  #namedPlaylists: unknown = null

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.#searchTimer)
  }

  protected override willUpdate(): void {
    const playlists = this.#playlists.value
    if (playlists === this.#namedPlaylists) return
    this.#namedPlaylists = playlists
    this.#playlistNames = new Map(playlists?.map(({ id, name }) => [id, name]))
  }

  protected override render() {
    const canManage = this.permissions.allows('manageMedia')
    const { station, zone, query } = this
    return html`<div
      class="media-page"
      ?data-has-details=${this.detailsId !== null}
      @cuewire-list-command=${this.#onCommand}
      @cuewire-uploaded=${() => this.#list?.refresh()}
      @cuewire-media-changed=${() => this.#list?.refresh()}
      @cuewire-close-details=${() => void this.#showDetails(null)}
      @cuewire-play-from=${this.#onPlayFrom}
      @cuewire-playhead=${({ detail }: CustomEvent<number | null>) => (this.playhead = detail)}
      @dragover=${(event: DragEvent) => this.#onDragOver(event, canManage)}
      @drop=${(event: DragEvent) => this.#onDrop(event, canManage)}
    >
      <section class="panel media-main" aria-label="Library">
        ${this.#toolbarView(canManage)} ${this.#filtersView()}
        ${canManage ? html`<media-upload .station=${station} .folder=${query.folder}></media-upload>` : nothing}
        ${this.#selectionView(canManage)}
        <media-list
          .station=${station}
          .zone=${zone}
          .query=${query}
          .playlistNames=${this.#playlistNames}
        ></media-list>
      </section>
      ${
        this.detailsId === null
          ? nothing
          : html`<media-details
              .station=${station}
              .zone=${zone}
              .mediaId=${this.detailsId}
              .playlists=${this.#playlists.value ?? []}
              .canEdit=${canManage}
              .playhead=${this.preview?.mediaId === this.detailsId ? this.playhead : null}
            ></media-details>`
      }
      <preview-player .preview=${this.preview}></preview-player>
    </div>`
  }

  get #list(): MediaList | null {
    const list = this.querySelector('media-list')
    return list instanceof MediaList ? list : null
  }

  #toolbarView(canManage: boolean) {
    const { folder } = this.query
    const folders = parseFolders(folder)
    return html`<header class="panel-head">
      <nav aria-label="Folders">
        <ol class="breadcrumb">
          <li>${this.#folderView('All files', '', folder === '')}</li>
          ${folders.map(({ name, path }) => html`<li>${this.#folderView(name, path, path === folder)}</li>`)}
        </ol>
      </nav>
      ${canManage ? buttonView('New folder', () => this.#createFolder(), { style: 'link' }) : nothing}
    </header>`
  }

  #folderView(name: string, path: string, isCurrent: boolean) {
    if (isCurrent) return html`<span aria-current="location" dir="auto">${name}</span>`
    return buttonView(html`<span dir="auto">${name}</span>`, () => this.#change({ folder: path }), {
      style: 'link'
    })
  }

  #filtersView() {
    const { isFlat, filter } = this.query
    const playlists = this.#playlists.value ?? []
    return html`<div class="media-filters">
      <input
        class="field"
        type="search"
        aria-label="Search"
        placeholder="Search"
        autocomplete="off"
        spellcheck="false"
        @input=${this.#onSearch}
      />
      <select
        class="field"
        aria-label="Filter"
        @change=${({ target }: Event) => {
          if (target instanceof HTMLSelectElement) this.#change({ filter: target.value })
        }}
      >
        <option value="" ?selected=${filter === ''}>All files</option>
        <option value="no-playlist" ?selected=${filter === 'no-playlist'}>In no playlist</option>
        <option value="no-cover" ?selected=${filter === 'no-cover'}>Without a cover</option>
        ${playlists.map(({ id, name }) => {
          const value = String(id)
          return html`<option value=${value} ?selected=${filter === value}>In “${name}”</option>`
        })}
      </select>
      <label class="choice"
        ><input type="checkbox" .checked=${isFlat} @change=${() => this.#change({ isFlat: !isFlat })} /> Files
        of all folders</label
      >
    </div>`
  }

  #selectionView(canManage: boolean) {
    const { selection, progress } = this
    const only = this.#only
    const media = only?.media ?? null
    if (selection.keys.size === 0)
      return html`<p class="quiet media-help">
        Space selects, Shift and the arrow keys extend, Ctrl+A selects all, Enter opens, P plays.
      </p>`
    const isBusy = this.#actions.inFlight !== null
    const action = (text: string, onClick: () => unknown) =>
      buttonView(text, onClick, { style: 'link', isDisabled: isBusy })
    const canQueue = this.permissions.allows('controlPlayback')
    return html`<div class="media-selection" role="toolbar" aria-label="Selection">
      <p role="status">
        ${describeSelection(selection, only === null ? '' : nameOf(only))}
        ${progress === '' ? nothing : html`(${progress})`}
      </p>
      ${media === null || only === null ? nothing : action('Details', () => this.#showDetails(media.id))}
      ${media === null || only === null ? nothing : action('Play', () => this.#hear(only))}
      ${
        canManage
          ? html`${action('Add to playlists…', () => this.#addToPlaylists())}
            ${action('Move…', () => this.#move())}`
          : nothing
      }
      ${
        canQueue
          ? html`${action('Queue', () => this.#batch({ do: 'queue' }))}
            ${action('Play next', () => this.#batch({ do: 'immediate' }))}`
          : nothing
      }
      ${only !== null && canManage ? action('Rename…', () => this.#rename(only)) : nothing}
      ${only?.type === 'media' ? action('Download', () => this.#download(only)) : nothing}
      ${this.permissions.allows('deleteMedia') ? action('Delete…', () => this.#delete()) : nothing}
      ${action('Clear', () => this.#list?.clearSelection())}
    </div>`
  }

  #change(changes: Partial<LibraryQuery>): void {
    this.query = { ...this.query, ...changes }
  }

  readonly #onSearch = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement)) return
    clearTimeout(this.#searchTimer)
    this.#searchTimer = setTimeout(() => this.#change({ search: target.value.trim() }), searchDebounceMs)
  }

  readonly #onCommand = ({ detail }: CustomEvent<ListCommand>) => {
    switch (detail.command) {
      case 'selected':
        this.selection = detail.selection
        this.#only = detail.only
        return
      case 'sort': {
        const { sort, isDescending } = this.query
        this.#change({ sort: detail.column, isDescending: sort === detail.column && !isDescending })
        return
      }
      case 'open':
        return this.#open(detail.row)
      case 'preview':
        return this.#hear(detail.row)
      case 'rename':
        if (this.permissions.allows('manageMedia')) void this.#rename(detail.row)
        return
      case 'delete':
        if (this.permissions.allows('deleteMedia')) void this.#delete()
    }
  }

  #open({ type, path, media }: LibraryRow): void {
    if (type === 'directory') this.#change({ folder: path, search: '' })
    else if (media !== null) void this.#showDetails(media.id)
  }

  async #showDetails(id: number | null): Promise<void> {
    const details = this.querySelector('media-details')
    const hasChanges = details instanceof MediaDetails && details.hasChanges
    if (id !== this.detailsId && hasChanges && !(await confirmAction(discardQuestion))) return
    this.detailsId = id
    await this.updateComplete
    if (id !== null) this.querySelector<HTMLElement>('#media-details-title')?.focus()
    else this.querySelector<HTMLElement>('.media-row[tabindex="0"]')?.focus()
  }

  #hear(row: LibraryRow): void {
    if (row.media !== null) this.#playFrom(row.media.id, nameOf(row), 0)
  }

  #playFrom(mediaId: number, title: string, fromSeconds: number): void {
    this.preview = { mediaId, title, path: `${this.path}/file/${mediaId}/play`, fromSeconds }
  }

  readonly #onPlayFrom = ({ detail: seconds }: CustomEvent<number>) => {
    const details = this.querySelector('media-details')
    if (details instanceof MediaDetails && details.record !== null)
      this.#playFrom(details.record.id, details.record.title || details.record.path, seconds)
  }

  #batch(action: BatchAction): Promise<void> {
    const { path, selection } = this
    const { keys } = selection
    return this.#actions.run(action.do, async () => {
      const onProgress = (done: number) => (this.progress = describeProgress(done, keys.size))
      try {
        return await runBatch(action, { path, folder: this.query.folder, keys, onProgress })
      } finally {
        this.progress = ''
        if (action.do === 'delete' || action.do === 'move') this.#list?.clearSelection()
        this.#list?.refresh()
      }
    })
  }

  async #delete(): Promise<void> {
    const { keys } = this.selection
    if (keys.size === 0) return
    const only = this.#only
    const title = `Delete ${only === null ? describeSelection(this.selection, '').replace(' selected', ' items') : `“${isolateBidi(nameOf(only))}”`}?`
    if (!(await confirmAction({ title, text: describeDeletion(keys), verb: 'Delete' }))) return
    const openId = this.detailsId
    if (only === null || only.media?.id === openId) this.detailsId = null
    await this.#batch({ do: 'delete' })
  }

  async #addToPlaylists(): Promise<void> {
    const playlists = await askPlaylists(this.#playlists.value ?? [])
    if (playlists !== null) await this.#batch({ do: 'add', playlists })
  }

  async #move(): Promise<void> {
    const directory = await askText({
      title: 'Move to a folder',
      label: 'Folder',
      verb: 'Move',
      value: this.query.folder,
      help: 'The path of the folder; empty for the top.',
      isOptional: true
    })
    if (directory !== null) await this.#batch({ do: 'move', directory })
  }

  async #rename({ path, path_short: name }: LibraryRow): Promise<void> {
    const renamed = await askText({ title: 'Rename', label: 'New name', verb: 'Rename', value: name })
    if (renamed === null || renamed === name) return
    const parent = parentOf(path)
    const newPath = parent === '' ? renamed : `${parent}/${renamed}`
    await this.#act('files/rename', 'PUT', { file: path, newPath })
  }

  async #createFolder(): Promise<void> {
    const name = await askText({ title: 'New folder', label: 'Name', verb: 'Create', value: '' })
    if (name !== null) await this.#act('files/mkdir', 'POST', { currentDirectory: this.query.folder, name })
  }

  #act(subpath: string, method: 'PUT' | 'POST', body: unknown): Promise<void> {
    return this.#actions.run(subpath, () =>
      callAction(`${this.path}/${subpath}`, { method, body }, async () => this.#list?.refresh())
    )
  }

  #download({ path, path_short: name }: LibraryRow): Promise<void> {
    const query = new URLSearchParams({ file: path })
    return this.#actions.run('download', async () => {
      await saveMediaFile(`${this.path}/files/download?${query.toString()}`, name)
      return ''
    })
  }

  #onDragOver(event: DragEvent, canManage: boolean): void {
    if (canManage && event.dataTransfer?.types.includes('Files') === true) event.preventDefault()
  }

  #onDrop(event: DragEvent, canManage: boolean): void {
    const upload = this.querySelector('media-upload')
    if (event.defaultPrevented || !canManage || event.dataTransfer === null) return
    event.preventDefault()
    if (upload instanceof MediaUpload) void upload.drop(event.dataTransfer)
  }
}

defineElements({
  'cue-editor': CueEditor,
  'media-details': MediaDetails,
  'media-list': MediaList,
  'media-upload': MediaUpload,
  'preview-player': PreviewPlayer,
  'media-page': MediaPage
})
