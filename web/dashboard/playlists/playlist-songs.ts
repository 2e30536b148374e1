import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { callAction, callApi, downloadFile } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { GetPlaylistOrderAnswer } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import { openForm } from '../forms/form-controller.ts'
import { openRowDrag, draggedRowStyle } from '../queue/row-drag.ts'
import { moveElement } from '../queue/row-order.ts'
import { showNotice, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount, formatNumber, isolateBidi } from '../ui/text.ts'
import { importPlaylistFile } from './playlist-file.ts'

/** Songs after these are counted, but not listed. */
const maxListed = 500
const maxUnmatched = 20
type PlaylistSong = GetPlaylistOrderAnswer[number]

const noSongs: readonly PlaylistSong[] = []

const titleOf = ({ artist, title, path }: PlaylistSong) =>
  [artist, title].filter(text => text !== '').join(' – ') || path

/** Dispatched when songs were added to a playlist or their order was saved. */
export const playlistSongsChangedEvent = 'cuewire-playlist-songs-changed'

/**
 * The songs of a playlist in order, each as often as it is there. They are moved by dragging their grips or with the
 * arrow keys.
 */
export class PlaylistSongs extends StationElement {
  static override properties = reactiveProperties<PlaylistSongs>(
    'playlistId',
    'name',
    'canManage',
    'announcement',
    'unmatched'
  )
  declare playlistId: number
  declare name: string
  declare canManage: boolean
  announcement = ''
  /** The entries of the last imported file that are not in the library. */
  unmatched: readonly string[] = []
  #focusedIndex: number | null = null

  readonly #songs = pollResource(this, {
    path: () => `${this.#path}/order`,
    intervalMs: 60_000,
    refreshKey: () => this.refreshKey
  })
  readonly #actions = openActionRunner(this)
  readonly #form = openForm(this, {
    start: () => ({ order: this.#songs.value?.slice(0, maxListed) ?? noSongs }),
    fields: () => [],
    actions: this.#actions
  })
  readonly #drag = openRowDrag(
    this,
    () => [...this.querySelectorAll<HTMLElement>('.queue-row')],
    (from, to) => this.#move(from, to)
  )

  get #path(): `${StationPath}/playlist/${number}` {
    return `${this.path}/playlist/${this.playlistId}`
  }

  get #listed(): readonly PlaylistSong[] {
    return this.#form.values.order
  }

  protected override render() {
    const count = this.#songs.value?.length ?? 0
    const hidden = count - this.#listed.length
    return panelView(
      {
        id: 'songs',
        title: `Songs (${formatNumber(count)})`,
        resource: this.#songs,
        emptyText: this.#songs.value !== null && count === 0 ? 'The playlist has no songs.' : '',
        actions: this.#actionsView(count)
      },
      html`${this.#unmatchedView()}
        <ol class="queue playlist-songs">
          ${repeat(
            this.#listed,
            (_, index) => index,
            (song, index) => this.#rowView(song, index)
          )}
        </ol>
        ${hidden > 0 ? html`<p class="quiet">and ${formatNumber(hidden)} more, which keep their order</p>` : nothing}
        <p class="visually-hidden" id="song-help">
          Use the arrow keys to move the song, Home and End to move it to the start or the end.
        </p>
        <p class="visually-hidden" role="status">${this.announcement}</p>`
    )
  }

  #actionsView(count: number) {
    const isBusy = this.#actions.inFlight !== null
    const download = (format: 'm3u' | 'pls') =>
      this.#actions.run('export', async () => {
        await downloadFile(`${this.#path}/export/${format}`, `${this.name}.${format}`)
        return ''
      })
    return html`<div class="button-row playlist-actions">
      ${
        this.#form.hasChanges
          ? html`${buttonView('Save order', () => this.#save(), { isBusy })}
            ${buttonView('Discard', () => this.#form.reset())}`
          : nothing
      }
      ${
        this.canManage
          ? html`<label class="button file-button"
              >Import M3U or PLS<input
                class="visually-hidden"
                type="file"
                accept=".m3u,.m3u8,.pls"
                ?disabled=${isBusy}
                @change=${(event: Event) => this.#import(event)}
            /></label>`
          : nothing
      }
      ${count > 0 ? buttonView('Export M3U', () => download('m3u'), { isDisabled: isBusy }) : nothing}
      ${count > 0 ? buttonView('Export PLS', () => download('pls'), { isDisabled: isBusy }) : nothing}
    </div>`
  }

  #unmatchedView() {
    if (this.unmatched.length === 0) return nothing
    const more = this.unmatched.length - maxUnmatched
    return html`<div class="trouble" role="alert">
      <p>${formatCount(this.unmatched.length, 'entry', 'entries')} of the file are not in the library:</p>
      <ul>
        ${this.unmatched.slice(0, maxUnmatched).map(path => html`<li>${path}</li>`)}
      </ul>
      ${more > 0 ? html`<p>and ${formatNumber(more)} more</p>` : nothing}
    </div>`
  }

  #rowView(song: PlaylistSong, index: number) {
    const { dragged } = this.#drag
    const title = isolateBidi(titleOf(song))
    return html`<li
      class="queue-row"
      data-movable
      ?data-dragged=${dragged?.from === index}
      ?data-shifting=${dragged !== null}
      .style=${draggedRowStyle(index, dragged)}
    >
      <span class="row-time">${formatNumber(index + 1)}</span>
      <div class="row-text"><p class="row-title" title=${song.path}>${titleOf(song)}</p></div>
      ${
        this.canManage
          ? html`<span class="row-handles">
              ${this.#form.hasChanges ? nothing : this.#entryButtons(song, index)}
              <button
                type="button"
                class="icon-button grip"
                data-index=${index}
                aria-label="Move “${title}”, position ${formatNumber(index + 1)} of ${formatNumber(this.#listed.length)}"
                aria-describedby="song-help"
                @pointerdown=${(event: PointerEvent) => this.#drag.start(event, index)}
                @keydown=${(event: KeyboardEvent) => this.#moveByKey(event, index)}
              ></button>
            </span>`
          : nothing
      }
    </li>`
  }

  /** Buttons that are saved at once: so they are hidden while an order is not. */
  #entryButtons(song: PlaylistSong, index: number) {
    const title = `“${isolateBidi(titleOf(song))}”, position ${formatNumber(index + 1)}`
    const isDisabled = this.#actions.inFlight !== null
    const body = { media_id: song.media_id, position: index + 2 }
    const { refresh } = this.#songs
    const add = () => callAction('POST', `${this.#path}/entries`, { body, refresh })
    const remove = () => callAction('DELETE', `${this.#path}/entry/${song.spm_id}`, { refresh })
    return html`${buttonView('+', () => this.#change(add), {
      style: 'icon-button',
      label: `Add ${title}, again after it`,
      isDisabled
    })}
    ${buttonView('×', () => this.#change(remove), {
      style: 'icon-button',
      label: `Remove ${title}`,
      isDisabled
    })}`
  }

  #change(work: () => Promise<string>): void {
    void this.#actions.run('entry', async () => {
      const message = await work()
      this.dispatchEvent(new Event(playlistSongsChangedEvent, { bubbles: true }))
      return message
    })
  }

  protected override updated(): void {
    if (this.#focusedIndex === null) return
    this.querySelector<HTMLElement>(`.grip[data-index="${this.#focusedIndex}"]`)?.focus()
    this.#focusedIndex = null
  }

  #move(from: number, to: number): void {
    this.#form.set('order', moveElement(this.#listed, from, to))
  }

  #moveByKey(event: KeyboardEvent, from: number): void {
    const last = this.#listed.length - 1
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: Math.max(0, from - 1),
      ArrowDown: Math.min(last, from + 1),
      Home: 0,
      End: last
    }
    const to = targets[event.key]
    const song = this.#listed[from]
    if (to === undefined || song === undefined) return
    event.preventDefault()
    if (to === from) return
    this.announcement = `${isolateBidi(titleOf(song))}: position ${formatNumber(to + 1)} of ${formatNumber(last + 1)}`
    this.#focusedIndex = to
    this.#move(from, to)
  }

  async #save(): Promise<void> {
    const order = this.#listed.map(({ media_id: id }) => id)
    const isSaved = await this.#form.submit(async () => {
      await callApi('PUT', `${this.#path}/order`, { body: { order } })
      await this.#songs.refresh()
      return 'The order was saved.'
    })
    if (isSaved) this.dispatchEvent(new Event(playlistSongsChangedEvent, { bubbles: true }))
  }

  #import({ target }: Event): void {
    const file = target instanceof HTMLInputElement ? target.files?.[0] : undefined
    if (file === undefined) return
    void this.#actions.run('import', async () => {
      const { message, unmatched } = await importPlaylistFile(this.#path, file)
      if (target instanceof HTMLInputElement) target.value = ''
      this.unmatched = unmatched
      await this.#songs.refresh()
      this.dispatchEvent(new Event(playlistSongsChangedEvent, { bubbles: true }))
      showNotice(this, { text: message, isError: false })
      return ''
    })
  }
}
