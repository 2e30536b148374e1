import { html } from 'lit'

import { defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { StationPlaylists } from './station-playlists.ts'
import { StationSchedule } from './station-schedule.ts'

/** The week of a station, and its playlists. */
class SchedulePage extends StationPage {
  protected override render() {
    return html`<div class="stack">
      <station-schedule .station=${this.station} .zone=${this.zone}></station-schedule>
      <station-playlists .station=${this.station}></station-playlists>
    </div>`
  }
}

defineElements({
  'station-playlists': StationPlaylists,
  'station-schedule': StationSchedule,
  'schedule-page': SchedulePage
})
