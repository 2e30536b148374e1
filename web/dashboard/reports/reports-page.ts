import { html } from 'lit'

import { backendPlaysQueue } from '../station/play-source.ts'
import { addPageStyles, defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { AudienceReport } from './audience-report.ts'
import { BarChart } from './bar-chart.ts'
import { ListenerOverview } from './listener-overview.ts'
import { ListenersNow } from './listeners-now.ts'
import { PlayHistory } from './play-history.ts'
import { PlayReasons } from './play-reasons.ts'
import { SongReport } from './song-report.ts'

import styles from './reports.css' with { type: 'text' }

/**
 * Who listens now, the listeners of the last weeks, sessions of listeners, the songs of a period, and the history of a
 * station.
 */
class ReportsPage extends StationPage {
  protected override render() {
    const { station, zone } = this
    return html`<div class="stack">
      <listeners-now .station=${station} .zone=${zone}></listeners-now>
      <listener-overview .station=${station} .zone=${zone}></listener-overview>
      <audience-report .station=${station} .zone=${zone}></audience-report>
      <song-report .station=${station} .zone=${zone}></song-report>
      <play-history
        .station=${station}
        .zone=${zone}
        .refreshKey=${this.refreshKey}
        .hasQueue=${backendPlaysQueue(this.np.station.backend)}
        .canViewPlaylists=${this.permissions.allows('viewQueue')}
      ></play-history>
    </div>`
  }
}

addPageStyles(styles)
defineElements({
  'audience-report': AudienceReport,
  'bar-chart': BarChart,
  'listener-overview': ListenerOverview,
  'listeners-now': ListenersNow,
  'play-history': PlayHistory,
  'play-reasons': PlayReasons,
  'song-report': SongReport,
  'reports-page': ReportsPage
})
