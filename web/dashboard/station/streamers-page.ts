import { html, nothing } from 'lit'

import { ResourceList } from '../resources/resource-list.ts'
import { streamers as streamerAccounts } from '../resources/station-resources.ts'
import { defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { BroadcastList, PollList, StationStreamers } from './live-shows.ts'

/** The DJs of a station, their live shows, and the streaming servers that are polled. */
class StreamersPage extends StationPage {
  protected override render() {
    const { station, zone, refreshKey } = this
    const { allows } = this.permissions
    const streamers = html`<station-streamers
      .station=${station}
      .live=${this.np.live}
      .refreshKey=${refreshKey}
    ></station-streamers>`
    const accounts = html`<resource-list .resource=${streamerAccounts} .station=${station}></resource-list>`
    const broadcasts = html`<broadcast-list
      .station=${station}
      .zone=${zone}
      .refreshKey=${refreshKey}
    ></broadcast-list>`
    return html`<div class="stack">
      ${allows('viewStreamers') ? streamers : nothing} ${allows('manageStreamers') ? accounts : nothing}
      ${allows('viewReports') ? broadcasts : nothing}
      ${allows('viewQueue') ? html`<poll-list .station=${station}></poll-list>` : nothing}
    </div>`
  }
}

defineElements({
  'broadcast-list': BroadcastList,
  'poll-list': PollList,
  'resource-list': ResourceList,
  'station-streamers': StationStreamers,
  'streamers-page': StreamersPage
})
