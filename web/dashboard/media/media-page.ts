import { html, nothing, type PropertyValues } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import type { FileRow } from '../api/responses.ts'
import { addPageStyles, defineElements, reactiveProperties } from '../ui/light-element.ts'
import { mediaLink } from '../ui/route.ts'
import { StationPage } from '../ui/station-page.ts'
import { CueEditor } from './cue-editor.ts'
import { firstLibraryQuery, type LibraryQuery } from './library-query.ts'
import { rowNameOf } from './library-row.ts'
import type { ListCommand } from './list-command.ts'
import { openMediaActions } from './media-actions.ts'
import { MediaDetails } from './media-details.ts'
import { MediaFileList } from './media-list.ts'
import { mediaFiltersView, folderToolbar, type SelectionAction, selectionToolbar } from './media-toolbars.ts'
import { type Preview, PreviewPlayer } from './preview-player.ts'
import { noSelection, type MediaSelection } from './selection.ts'
import { MediaUpload } from './upload/media-upload.ts'

import styles from './media.css' with { type: 'text' }

addPageStyles(styles)

const searchDebounceMs = 50

/** The files of a station: list, upload, actions on many files, and the details of one. */
class MediaPage extends StationPage {
  static override properties = reactiveProperties<MediaPage>('query', 'selection', 'preview', 'playhead')
  query: LibraryQuery = firstLibraryQuery
  selection: MediaSelection = noSelection
  preview: Preview | null = null
  playhead: number | null = null
  /** The only selected row; null if there is none or several. */
  #only: FileRow | null = null
  #searchTimer: ReturnType<typeof setTimeout> | undefined
  readonly #playlists = this.poll('playlists', 60_000)
  readonly #customFields = pollResource(this, {
    path: () =>
      this.#detailsId !== null && this.permissions.allows('viewFields') ? 'api/admin/custom_fields' : null,
    intervalMs: 300_000
  })
  #playlistNames: ReadonlyMap<number, string> = new Map()
  #namedPlaylists: unknown = null
  readonly #actions = openMediaActions(this, {
    path: () => this.path,
    folder: () => this.query.folder,
    selection: () => this.selection,
    onChanged: isGone => {
      if (isGone) this.#list?.clearSelection()
      this.#list?.refresh()
    },
    onDelete: only => {
      if (this.#detailsId === null || (only !== null && only.media?.id !== this.#detailsId)) return
      this.#details?.discardChanges()
      this.#showDetails(null)
    }
  })

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.#searchTimer)
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { folder } = this
    if (changed.has('folder') && folder !== this.query.folder) {
      clearTimeout(this.#searchTimer)
      this.query = { ...this.query, folder, search: '' }
      const search = this.querySelector<HTMLInputElement>('input[type=search]')
      if (search !== null) search.value = ''
    }
    const playlists = this.#playlists.value
    if (playlists === this.#namedPlaylists) return
    this.#namedPlaylists = playlists
    this.#playlistNames = new Map(playlists?.map(({ id, name }) => [id, name]))
  }

  protected override updated(changed: PropertyValues<this>): void {
    // The details take the focus when they are opened, and return it; not when the page is opened with them.
    if (!changed.has('item') || changed.get('item') === undefined) return
    const title = this.item === '' ? '.media-row[tabindex="0"]' : '#media-details-title'
    this.querySelector<HTMLElement>(title)?.focus()
  }

  /** The file in the details; null if they are closed. */
  get #detailsId(): number | null {
    return this.item === '' ? null : Number(this.item)
  }

  protected override render() {
    const canManage = this.permissions.allows('manageMedia')
    const { station, zone, query } = this
    const detailsId = this.#detailsId
    const playlists = this.#playlists.value ?? []
    return html`<div
      class="media-page"
      ?data-has-details=${detailsId !== null}
      @cuewire-list-command=${this.#onCommand}
      @cuewire-uploaded=${() => this.#list?.refresh()}
      @cuewire-media-changed=${() => this.#list?.refresh()}
      @cuewire-close-details=${() => this.#showDetails(null)}
      @cuewire-play-from=${this.#onPlayFrom}
      @cuewire-playhead=${({ detail }: CustomEvent<number | null>) => (this.playhead = detail)}
      @dragover=${(event: DragEvent) => this.#onDragOver(event, canManage)}
      @drop=${(event: DragEvent) => this.#onDrop(event, canManage)}
    >
      <section class="panel media-main" aria-label="Library">
        ${folderToolbar({
          folder: query.folder,
          canManage,
          linkTo: folder => mediaLink(station, folder, detailsId),
          onCreateFolder: () => this.#actions.createFolder()
        })}
        ${mediaFiltersView({
          query,
          playlists,
          onSearch: this.#onSearch,
          onChange: changes => this.#change(changes)
        })}
        ${canManage ? html`<media-upload .station=${station} .folder=${query.folder}></media-upload>` : nothing}
        ${selectionToolbar({
          selection: this.selection,
          only: this.#only,
          progress: this.#actions.progress,
          isBusy: this.#actions.isBusy,
          actions: this.#selectionActions(canManage)
        })}
        <media-list
          .station=${station}
          .zone=${zone}
          .query=${query}
          .playlistNames=${this.#playlistNames}
        ></media-list>
      </section>
      ${
        detailsId === null
          ? nothing
          : html`<media-details
              .station=${station}
              .zone=${zone}
              .mediaId=${detailsId}
              .playlists=${playlists}
              .canEdit=${canManage}
              .customNames=${this.#customNames}
              .playhead=${this.preview?.mediaId === detailsId ? this.playhead : null}
            ></media-details>`
      }
      <preview-player .preview=${this.preview}></preview-player>
    </div>`
  }

  get #customNames(): ReadonlyMap<string, string> {
    return new Map(this.#customFields.value?.map(({ name, short_name: shortName }) => [shortName, name]))
  }

  get #list(): MediaFileList | null {
    const list = this.querySelector('media-list')
    return list instanceof MediaFileList ? list : null
  }

  /** What the key permits to do with the selection. */
  #selectionActions(canManage: boolean): SelectionAction[] {
    const actions = this.#actions
    const only = this.#only
    const media = only?.media ?? null
    const list: (SelectionAction | false)[] = [
      media !== null && ['Details', () => this.#showDetails(media.id)],
      only !== null && media !== null && ['Play', () => this.#hear(only)],
      canManage && ['Add to playlists…', () => actions.addToPlaylists(this.#playlists.value ?? [])],
      canManage && ['Move…', () => actions.move()],
      canManage && ['Read tags again', () => actions.readTagsAgain()],
      ...(this.permissions.allows('controlPlayback')
        ? ([
            ['Queue', () => actions.runOnSelection({ do: 'queue' })],
            ['Play next', () => actions.runOnSelection({ do: 'immediate' })]
          ] as const)
        : []),
      only !== null && canManage && ['Rename…', () => actions.rename(only)],
      only?.type === 'media' && ['Download', () => actions.download(only)],
      this.permissions.allows('deleteMedia') && ['Delete…', () => actions.delete(only)],
      ['Clear', () => this.#list?.clearSelection()]
    ]
    return list.filter(action => action !== false)
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
        if (this.permissions.allows('manageMedia')) void this.#actions.rename(detail.row)
        return
      case 'delete':
        if (this.permissions.allows('deleteMedia')) void this.#actions.delete(this.#only)
    }
  }

  #open({ type, path, media }: FileRow): void {
    if (type === 'directory') location.hash = mediaLink(this.station, path, this.#detailsId)
    else if (media !== null) this.#showDetails(media.id)
  }

  /** Opens the details of a file, or closes them. The frame asks if there are unsaved changes. */
  #showDetails(id: number | null): void {
    const link = mediaLink(this.station, this.folder, id)
    if (id === null) location.replace(link)
    else location.hash = link
  }

  get #details(): MediaDetails | null {
    const details = this.querySelector('media-details')
    return details instanceof MediaDetails ? details : null
  }

  #hear(row: FileRow): void {
    if (row.media !== null) this.#playFrom(row.media.id, rowNameOf(row), 0)
  }

  #playFrom(mediaId: number, title: string, fromSeconds: number): void {
    this.preview = { mediaId, title, path: `${this.path}/file/${mediaId}/play`, fromSeconds }
  }

  readonly #onPlayFrom = ({ detail: seconds }: CustomEvent<number>) => {
    const record = this.#details?.record ?? null
    if (record !== null) this.#playFrom(record.id, record.title || record.path, seconds)
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
  'media-list': MediaFileList,
  'media-upload': MediaUpload,
  'preview-player': PreviewPlayer,
  'media-page': MediaPage
})
