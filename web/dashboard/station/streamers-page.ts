import { html, nothing } from 'lit'

import { ResourceList } from '../resources/resource-list.ts'
import type { ResourceView } from '../resources/resource.ts'
import { streamersResourceView } from '../resources/streamers.ts'
import { defineElements } from '../ui/light-element.ts'
import { stationLink } from '../ui/route.ts'
import { StationPage } from '../ui/station-page.ts'
import { BroadcastList, PollList } from './live-shows.ts'

/** The DJs of a station, their live shows, and the streaming servers that are polled. */
class StreamersPage extends StationPage {
  #streamers: { readonly liveName: string; readonly resource: ResourceView } | null = null

  /** Another one only when somebody else is live, because the list is then rendered again. */
  #resource(): ResourceView {
    const { live } = this.np
    const liveName = live.is_live ? live.streamer_name : ''
    if (this.#streamers?.liveName !== liveName)
      this.#streamers = { liveName, resource: streamersResourceView(live) }
    return this.#streamers.resource
  }

  protected override render() {
    const { station, zone, refreshKey, item } = this
    const { allows } = this.permissions
    const streamers = html`<resource-list
      .resource=${this.#resource()}
      .station=${station}
      .item=${item}
      .linkTo=${(each: string) => stationLink(station, 'streamers', each)}
    ></resource-list>`
    const broadcasts = html`<broadcast-list
      .station=${station}
      .zone=${zone}
      .refreshKey=${refreshKey}
    ></broadcast-list>`
    return html`<div class="stack">
      ${allows('viewStreamers') ? streamers : nothing} ${allows('viewReports') ? broadcasts : nothing}
      ${allows('viewQueue') ? html`<poll-list .station=${station}></poll-list>` : nothing}
    </div>`
  }
}

defineElements({
  'broadcast-list': BroadcastList,
  'poll-list': PollList,
  'resource-list': ResourceList,
  'streamers-page': StreamersPage
})
