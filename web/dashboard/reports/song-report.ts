import { html, nothing } from 'lit'

import { downloadFile } from '../api/call-api.ts'
import type { SongReport as SongReportRow } from '../api/responses.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { type FilterValues, filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { pagingView, renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { formatNumber } from '../ui/text.ts'

/** The numbers of a song, with the titles of their columns and the orders by them. */
const counts = [
  ['plays', 'Plays', 'Most plays'],
  ['listeners_gained', 'Gained', 'Most listeners gained'],
  ['listeners_lost', 'Lost', 'Most listeners lost'],
  ['delta_total', 'Change', 'Best change of listeners'],
  ['listeners_average', 'Average listeners', 'Most listeners on average']
] as const
type CountName = (typeof counts)[number][0]
const orders = counts.map(([name, , order]) => [name, order] as const)

/** The songs of a period by plays, and by listeners gained and lost. */
export class SongReport extends StationElement {
  static override properties = reactiveProperties<SongReport>('filters', 'page')
  filters: FilterValues = { sort: 'plays' }
  page = 1

  readonly #songs = this.poll(() => `reports/songs?per_page=25&${this.#query({ page: this.page })}`, 300_000)
  readonly #actions = openActionRunner(this)

  #query(others: Readonly<Record<string, string | number>>): string {
    return renderQueryString({ ...this.filters, sortOrder: 'DESC', ...others })
  }

  protected override render() {
    const { value } = this.#songs
    const rows = value?.rows ?? []
    const download = buttonView('Download CSV', () => this.#download(), {
      style: 'link',
      isBusy: this.#actions.inFlight !== null
    })
    return panelView(
      {
        id: 'song-report',
        title: 'Songs',
        resource: this.#songs,
        emptyText: value?.rows.length === 0 ? 'No songs were played in this period.' : '',
        actions: download
      },
      html`<p class="quiet">The last 14 days, unless you choose days.</p>
        ${filtersView(
          'song-report',
          'Filter the songs',
          [
            { name: 'start', label: 'First day', type: 'date' },
            { name: 'end', label: 'Last day', type: 'date' },
            { name: 'searchPhrase', label: 'Title or artist', type: 'search' },
            { name: 'sort', label: 'Order', options: orders }
          ],
          values => {
            this.filters = values
            this.page = 1
          }
        )}
        ${
          rows.length === 0
            ? nothing
            : html`<div class="scroll" role="region" aria-label="Table of songs" tabindex="0">
                ${this.#tableView(rows)}
              </div>`
        }
        ${pagingView(value, page => (this.page = page))}`
    )
  }

  /** On phones there is room for one number: the one that the songs are ordered by. */
  #tableView(rows: readonly SongReportRow[]) {
    const styleOf = (name: CountName) => (name === this.filters['sort'] ? 'count' : 'count wide')
    return tableView(
      ['Song', ...counts.map(([name, title]) => [title, styleOf(name)] as const)],
      rows.map(
        row =>
          html`<tr>
            <td class="main">
              <p class="row-title">${row.song.title || row.song.text}</p>
              <p class="row-artist">${row.song.artist}</p>
            </td>
            ${counts.map(([name]) => html`<td class=${styleOf(name)}>${formatNumber(row[name])}</td>`)}
          </tr>`
      )
    )
  }

  #download(): Promise<void> {
    return this.#actions.run('download', async () => {
      const path = `${this.path}/reports/songs?${this.#query({ format: 'csv' })}`
      await downloadFile(path, `${this.station}-songs.csv`)
      return ''
    })
  }
}
