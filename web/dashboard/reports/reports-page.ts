import { html } from 'lit'

import { adoptStyles, defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { ListenersNow } from './listeners-now.ts'
import { PlayHistory } from './play-history.ts'
import { PlayReasons } from './play-reasons.ts'
import { SongReport } from './song-report.ts'

import styles from './reports.css' with { type: 'text' }

/** Who listens now, the songs of a period, and the history of a station. */
class ReportsPage extends StationPage {
  protected override render() {
    const { station, zone } = this
    return html`<div class="stack">
      <listeners-now .station=${station} .zone=${zone}></listeners-now>
      <song-report .station=${station} .zone=${zone}></song-report>
      <play-history
        .station=${station}
        .zone=${zone}
        .refreshKey=${this.refreshKey}
        .canViewPlaylists=${this.permissions.allows('viewQueue')}
      ></play-history>
    </div>`
  }
}

adoptStyles(styles)
defineElements({
  'listeners-now': ListenersNow,
  'play-history': PlayHistory,
  'play-reasons': PlayReasons,
  'song-report': SongReport,
  'reports-page': ReportsPage
})
