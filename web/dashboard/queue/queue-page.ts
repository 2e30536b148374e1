import { html, nothing } from 'lit'

import { addPageStyles, defineElements, reactiveProperties } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { queueChangedEvent } from './add-to-queue.ts'
import { RequestList } from './request-list.ts'
import { SongSearch } from './song-search.ts'
import { StationQueue } from './station-queue.ts'

import reportStyles from '../reports/reports.css' with { type: 'text' }

/** The queue of a station, a search that adds songs to it, and the requests of listeners. */
class QueuePage extends StationPage {
  static override properties = reactiveProperties<QueuePage>('changes')
  /** How often this page has changed the queue. */
  changes = 0

  constructor() {
    super()
    this.addEventListener(queueChangedEvent, () => this.changes++)
  }

  protected override render() {
    const { station, zone } = this
    const { allows } = this.permissions
    const canManage = allows('controlPlayback')
    const refreshKey = `${this.refreshKey} ${this.changes}`
    const search = html`<song-search .station=${station} .zone=${zone}></song-search>`
    const requests = html`<request-list
      .station=${station}
      .zone=${zone}
      .refreshKey=${refreshKey}
      .canManage=${canManage}
    ></request-list>`
    return html`<div class="stack">
      ${canManage ? search : nothing}
      <station-queue
        .station=${station}
        .zone=${zone}
        .isPrivate=${!this.np.station.is_public}
        .canManage=${canManage}
        .refreshKey=${refreshKey}
      ></station-queue>
      ${allows('viewReports') ? requests : nothing}
    </div>`
  }
}

addPageStyles(reportStyles)
defineElements({
  'song-search': SongSearch,
  'request-list': RequestList,
  'station-queue': StationQueue,
  'queue-page': QueuePage
})
