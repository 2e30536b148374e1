import { html } from 'lit'

import { addPageStyles, defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { StationSchedule } from './station-schedule.ts'

import styles from './schedule.css' with { type: 'text' }

/** The week of a station, and a simulation of it. */
class SchedulePage extends StationPage {
  protected override render() {
    const { allows } = this.permissions
    return html`<station-schedule
      .station=${this.station}
      .zone=${this.zone}
      .canEditPlaylists=${allows('manageMedia')}
      .canViewStreamers=${allows('viewStreamers')}
      .canEditStreamers=${allows('manageStreamers')}
    ></station-schedule>`
  }
}

addPageStyles(styles)
defineElements({ 'station-schedule': StationSchedule, 'schedule-page': SchedulePage })
