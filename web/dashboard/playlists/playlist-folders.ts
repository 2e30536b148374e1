import { html, nothing } from 'lit'

import { callAction } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { ListFoldersOfPlaylistAnswer } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import { openForm } from '../forms/form-controller.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatNumber, isolateBidi } from '../ui/text.ts'
import { playlistSongsChangedEvent } from './playlist-songs.ts'

type PlaylistFolder = ListFoldersOfPlaylistAnswer[number]

/** All songs of a large library are added within this time. */
const timeoutMs = 60_000

const wholeLibrary = '/'
const nameOf = (path: string) => path || 'Whole library'

/** The folders that are assigned to a playlist. Their songs are in it, also those that arrive later. */
export class PlaylistFolders extends StationElement {
  static override properties = reactiveProperties<PlaylistFolders>('playlistId', 'canManage')
  declare playlistId: number
  declare canManage: boolean

  readonly #folders = pollResource(this, {
    path: () => `${this.#path}/folders`,
    intervalMs: 60_000
  })
  readonly #choices = pollResource(this, {
    path: () => (this.canManage ? `${this.#path}/apply-to` : null),
    intervalMs: 600_000
  })
  readonly #actions = openActionRunner(this)
  readonly #form = openForm(this, {
    start: () => ({ folder: '' }),
    fields: () => [],
    isGuarded: false,
    actions: this.#actions
  })

  get #path(): `${StationPath}/playlist/${number}` {
    return `${this.path}/playlist/${this.playlistId}`
  }

  protected override render() {
    const folders = this.#folders.value ?? []
    return panelView(
      {
        id: 'folders',
        title: `Folders (${formatNumber(folders.length)})`,
        resource: this.#folders,
        emptyText:
          this.#folders.value !== null && folders.length === 0
            ? 'No folder is assigned. Songs of an assigned folder are in the playlist, also those that arrive later.'
            : ''
      },
      html`<ul class="playlist-folders">
          ${folders.map(folder => this.#folderView(folder))}
        </ul>
        ${this.canManage ? this.#formView(folders) : nothing}`
    )
  }

  #folderView(folder: PlaylistFolder) {
    const name = nameOf(folder.path)
    return html`<li>
      <bdi>${name}</bdi>
      ${
        this.canManage
          ? buttonView('Remove', () => this.#remove(folder), {
              style: 'link',
              label: `Remove the folder “${isolateBidi(name)}”`,
              isDisabled: this.#actions.inFlight !== null
            })
          : nothing
      }
    </li>`
  }

  #formView(folders: readonly PlaylistFolder[]) {
    const assigned = new Set(folders.map(({ path }) => path))
    const choices = (this.#choices.value?.directories ?? []).filter(({ path }) => !assigned.has(path))
    return html`<form class="button-row" @submit=${() => this.#add()}>
      <label class="visually-hidden" for="new-folder">Folder</label>
      <input
        id="new-folder"
        class="field"
        dir="auto"
        autocomplete="off"
        list="folder-choices"
        placeholder="Folder, or / for the whole library"
        required
        .value=${this.#form.values.folder}
        @input=${({ target }: Event) => {
          if (target instanceof HTMLInputElement) this.#form.set('folder', target.value)
        }}
      />
      <datalist id="folder-choices">
        ${choices.map(({ path }) => html`<option value=${path || wholeLibrary}></option>`)}
      </datalist>
      <button class="button" aria-busy=${this.#form.isBusy}>Add folder</button>
    </form>`
  }

  async #add(): Promise<void> {
    const folder = this.#form.values.folder.trim()
    const body = { directories: [folder === wholeLibrary ? '' : folder] }
    const isAdded = await this.#form.submit(async () => {
      await callAction('PUT', `${this.#path}/apply-to`, { body, timeoutMs, refresh: this.#folders.refresh })
      return 'The folder was added.'
    })
    if (isAdded) this.#dispatchChange()
  }

  #remove({ id, path }: PlaylistFolder): void {
    void this.#actions.run(
      'remove',
      async () => {
        await callAction('DELETE', `${this.#path}/folder/${id}`, {
          timeoutMs,
          refresh: this.#folders.refresh
        })
        this.#dispatchChange()
        return 'The folder was removed.'
      },
      {
        title: `Remove the folder “${isolateBidi(nameOf(path))}”?`,
        text: 'Its songs leave the playlist, except those that were added in another way. They remain in the library.',
        verb: 'Remove'
      }
    )
  }

  #dispatchChange(): void {
    this.dispatchEvent(new Event(playlistSongsChangedEvent, { bubbles: true }))
  }
}
