import { html, nothing } from 'lit'

import { downloadFile } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { DetailedPlay } from '../api/responses.ts'
import { describePlaySource, isDetailedPlay } from '../station/play-source.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { type FilterValues, filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { pagingView, renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { formatNumber, isolateBidi } from '../ui/text.ts'

/** The plays of a station with filters, why each was chosen, and a file of them. */
export class PlayHistory extends StationElement {
  static override properties = reactiveProperties<PlayHistory>(
    'canViewPlaylists',
    'hasQueue',
    'filters',
    'page'
  )
  declare canViewPlaylists: boolean
  /** Whether the songs come from the queue. */
  declare hasQueue: boolean
  filters: FilterValues = {}
  page = 1

  readonly #plays = this.poll(
    () => `history?per_page=50&${renderQueryString({ ...this.filters, detailed: 1, page: this.page })}`,
    60_000
  )
  readonly #playlists = pollResource(this, {
    path: () => (this.canViewPlaylists ? `${this.path}/playlists` : null),
    intervalMs: 300_000
  })
  readonly #actions = openActionRunner(this)

  protected override render() {
    const { value } = this.#plays
    const rows = value?.rows.filter(isDetailedPlay) ?? []
    const names = new Map(this.#playlists.value?.map(({ id, name }) => [id, name]))
    const download = buttonView('Download CSV', () => this.#download(), {
      style: 'link',
      isBusy: this.#actions.inFlight !== null
    })
    return panelView(
      {
        id: 'play-history',
        title: 'History',
        resource: this.#plays,
        emptyText: value?.rows.length === 0 ? 'There are no such plays.' : '',
        actions: download
      },
      html`${filtersView(
        'play-history',
        'Filter the history',
        [
          { name: 'start', label: 'First day', type: 'date' },
          { name: 'end', label: 'Last day', type: 'date' },
          { name: 'searchPhrase', label: 'Title, artist or playlist', type: 'search' },
          { name: 'playlist', label: 'Playlist (whole name)', type: 'text' },
          { name: 'streamer', label: 'DJ (whole name)', type: 'text' },
          {
            name: 'type',
            label: 'Kind',
            options: [
              ['', 'All plays'],
              ['autodj', 'AutoDJ'],
              ['request', 'Requests'],
              ['live', 'Live shows']
            ]
          }
        ],
        values => {
          this.filters = values
          this.page = 1
        }
      )}
      ${
        rows.length === 0
          ? nothing
          : html`<div class="scroll" role="region" aria-label="Table of plays" tabindex="0">
              ${tableView(
                ['Time', 'Song', ['Source', 'wide'], ['Listeners', 'count']],
                rows.map(play => this.#rowView(play, names))
              )}
            </div>`
      }
      ${pagingView(value, page => (this.page = page))}`
    )
  }

  #rowView(play: DetailedPlay, names: ReadonlyMap<number, string>) {
    const { song, listeners_start: listeners, delta_positive: gained, delta_negative: lost } = play
    const title = song.title || song.text
    return html`<tr ?data-hidden=${!play.is_visible}>
      <td class="row-time">
        ${this.clock.formatDate(play.played_at * 1_000)} ${this.clock.formatTime(play.played_at)}
      </td>
      <td class="main">
        <p class="row-title">${title}</p>
        <p class="row-artist">${song.artist}</p>
        <play-reasons
          .station=${this.station}
          .zone=${this.zone}
          .shId=${play.sh_id}
          .title=${isolateBidi(title)}
          .playlists=${names}
        ></play-reasons>
      </td>
      <td class="wide quiet">${describePlaySource(play, this.hasQueue)}</td>
      <td class="count">
        ${formatNumber(listeners)} <span class="delta">+${formatNumber(gained)} −${formatNumber(lost)}</span>
      </td>
    </tr>`
  }

  #download(): Promise<void> {
    return this.#actions.run('download', async () => {
      const query = renderQueryString({ ...this.filters, format: 'csv' })
      await downloadFile(`${this.path}/history?${query}`, `${this.station}-history.csv`)
      return ''
    })
  }
}
