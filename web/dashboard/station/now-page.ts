import { html, nothing } from 'lit'

import { StationQueue } from '../queue/station-queue.ts'
import { defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { DayChart } from './day-chart.ts'
import { OnAir } from './on-air.ts'
import { backendPlaysQueue } from './play-source.ts'
import { StationHistory } from './station-history.ts'

/** What plays now, the listeners of the day, the queue and the history. */
class NowPage extends StationPage {
  protected override render() {
    const { station, zone, refreshKey } = this
    const { allows } = this.permissions
    const canManage = allows('controlPlayback')
    const chart = html`<day-chart .station=${station} .zone=${zone}></day-chart>`
    const queue = html`<station-queue
      .station=${station}
      .zone=${zone}
      .isPrivate=${!this.np.station.is_public}
      .canManage=${canManage}
      .refreshKey=${refreshKey}
    ></station-queue>`
    const history = html`<station-history
      .station=${station}
      .zone=${zone}
      .refreshKey=${refreshKey}
      .hasQueue=${backendPlaysQueue(this.np.station.backend)}
    ></station-history>`
    return html`<div class="columns">
      <on-air .station=${station} .canSkip=${canManage} .isOutdated=${this.isOutdated}></on-air>
      ${allows('viewReports') ? chart : nothing} ${allows('viewQueue') ? queue : nothing}
      ${allows('viewReports') ? history : nothing}
    </div>`
  }
}

defineElements({
  'day-chart': DayChart,
  'on-air': OnAir,
  'station-history': StationHistory,
  'station-queue': StationQueue,
  'now-page': NowPage
})
