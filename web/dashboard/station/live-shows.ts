import { html, nothing } from 'lit'

import type { Poll } from '../api/responses.ts'
import { type Chip, chipView } from '../ui/controls.ts'
import { StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatAge, describeDuration } from '../ui/text.ts'

const maxBroadcasts = 10

/** The latest broadcasts of DJs, newest first. */
export class BroadcastList extends StationElement {
  readonly #broadcasts = this.poll(`streamers/broadcasts?per_page=${maxBroadcasts}`, 60_000)

  protected override render() {
    const rows = this.#broadcasts.value?.rows
    const emptyText = rows?.length === 0 ? 'There were no live shows yet.' : ''
    return panelView(
      { id: 'broadcasts', title: 'Live shows', resource: this.#broadcasts, emptyText },
      html`<ol>
        ${rows?.map(
          ({ username, streamer_name: name, timestamp_start: start, timestamp_end: end }) =>
            html`<li class="line">
              <span class="row-time">${this.clock.formatTime(start)}</span>
              <span class="row-title">${name || username}</span>
              <span class="quiet">${end === null ? 'in progress' : describeDuration(end - start)}</span>
            </li>`
        )}
      </ol>`
    )
  }
}

/** The streaming servers that are polled for a station, and whether they respond; empty if none is polled. */
export class PollList extends StationElement {
  readonly #polls = this.poll('polls', 30_000)

  protected override render() {
    const { value } = this.#polls
    if (value === null || value.length === 0) return nothing
    return panelView(
      { id: 'polls', title: 'Streaming servers', resource: this.#polls },
      html`<ul>
        ${value.map(
          poll =>
            html`<li class="line">
              ${chipView(pollChip(poll))}
              <span class="row-title">${poll.url}</span>
              <span class="quiet">${poll.type}${poll.problem === '' ? '' : `: ${poll.problem}`}</span>
            </li>`
        )}
      </ul>`
    )
  }
}

function pollChip({ answered_at: respondedAt, failing_since: failingSince }: Poll): Chip {
  if (failingSince !== null)
    return { text: `Failing for ${describeDuration(Date.now() / 1_000 - failingSince)}`, tone: 'bad' }
  if (respondedAt === null) return { text: 'Not polled yet', tone: 'neutral' }
  return { text: `Responded ${formatAge(respondedAt)}`, tone: 'good' }
}
