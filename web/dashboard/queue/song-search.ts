import { html, nothing } from 'lit'

import { formatDuration } from '../../elements/time-text.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { StationFile } from '../api/responses.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount, isolateBidi } from '../ui/text.ts'
import { requestQueueAddition } from './add-to-queue.ts'

const maxRows = 10
/** Results change only when the library does. */
const intervalMs = 600_000

/** Finds songs of the library, and adds them to the queue, on request as requests of listeners. */
export class SongSearch extends StationElement {
  static override properties = reactiveProperties<SongSearch>('text', 'isRequest')
  text = ''
  /** Whether songs are added as requests of listeners. */
  isRequest = false

  readonly #songs = pollResource(this, {
    path: () =>
      this.text === ''
        ? null
        : `${this.path}/files?per_page=${maxRows}&${renderQueryString({ searchPhrase: this.text })}`,
    intervalMs
  })
  readonly #actions = openActionRunner(this)

  protected override render() {
    const isSearching = this.text !== ''
    const { value, error } = this.#songs
    const found = isSearching ? value : null
    const resource = isSearching ? this.#songs : { ...this.#songs, value: [], error: null }
    const status = found === null || error !== null ? '' : `${formatCount(found.total, 'song')} found`
    return panelView(
      { id: 'song-search', title: 'Add a song', resource },
      html`<label
          ><input
            type="checkbox"
            .checked=${this.isRequest}
            @change=${() => (this.isRequest = !this.isRequest)}
          />
          Add as the request of a listener</label
        >
        ${filtersView(
          'song-search',
          'Search the library',
          [{ name: 'text', label: 'Title, artist, album or path', type: 'search' }],
          ({ text = '' }) => (this.text = text)
        )}
        <p class="quiet" role="status">${status}</p>
        <ul class="results">
          ${found?.rows.map(song => this.#songView(song))}
        </ul>
        ${
          found !== null && found.total > maxRows
            ? html`<p class="quiet">The first ${maxRows} are shown: enter more to narrow the search.</p>`
            : nothing
        }`
    )
  }

  #songView(song: StationFile) {
    const isDisabled = this.#actions.inFlight !== null
    const title = isolateBidi(titleOf(song))
    return html`<li class="result">
      <div class="row-text">
        <p class="row-title">${titleOf(song)}</p>
        <p class="row-artist">${[song.artist, song.album].filter(text => text !== '').join(' · ')}</p>
      </div>
      <span class="row-length">${song.length === 0 ? '' : formatDuration(song.length * 1_000)}</span>
      <div class="button-row">
        ${buttonView('Play next', () => this.#add(song, true), { label: `Play next: “${title}”`, isDisabled })}
        ${buttonView('Add', () => this.#add(song, false), { label: `Add “${title}” to the queue`, isDisabled })}
      </div>
    </li>`
  }

  #add(song: StationFile, playsNext: boolean): Promise<void> {
    const { path, clock, isRequest } = this
    const body = { media_id: song.id, ...(isRequest ? { is_request: true } : {}) }
    return this.#actions.run('add', () =>
      requestQueueAddition(this, { path, clock, body, title: titleOf(song), playsNext })
    )
  }
}

const titleOf = ({ title, artist }: StationFile) => title || artist || 'Untitled'
