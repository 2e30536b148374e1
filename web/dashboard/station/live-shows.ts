import { html, nothing } from 'lit'
import * as v from 'valibot'

import type { NowPlaying } from '../../client/interface.ts'
import { formatSchedule, scheduleEntrySchema } from '../schedule/schedule-text.ts'
import { type Chip, chipView, tableView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatAge, describeDuration } from '../ui/text.ts'

const streamersSchema = v.array(
  v.object({
    streamer_username: v.string(),
    display_name: v.string(),
    is_active: v.boolean(),
    enforce_schedule: v.boolean(),
    schedule_items: v.array(scheduleEntrySchema)
  })
)
type Streamer = v.InferOutput<typeof streamersSchema>[number]

/** The accounts of DJs, their schedules, and who is live. */
export class StationStreamers extends StationElement {
  static override properties = reactiveProperties('live')
  declare live: NowPlaying['live']

  readonly #streamers = this.poll('streamers', streamersSchema, 60_000)

  protected override render() {
    const { value } = this.#streamers
    const emptyText = value?.length === 0 ? 'This station has no streamers.' : ''
    const rows = value?.map(
      streamer =>
        html`<tr>
          <td>
            <p class="row-title">${streamer.display_name || streamer.streamer_username}</p>
            <p class="row-artist">${streamer.streamer_username}</p>
          </td>
          <td>${formatSchedules(streamer)}</td>
          <td>${chipView(streamerChip(streamer, this.live))}</td>
        </tr>`
    )
    return panelView(
      { id: 'streamers', title: 'Streamers', resource: this.#streamers, emptyText },
      rows?.length ? tableView(['Name', 'Schedule', 'State'], rows) : nothing
    )
  }
}

function streamerChip(streamer: Streamer, live: NowPlaying['live']): Chip {
  const { display_name: name, streamer_username: username, is_active: isActive } = streamer
  if (live.is_live && live.streamer_name === (name || username)) return { text: 'Live', tone: 'good' }
  return isActive ? { text: 'Enabled', tone: 'neutral' } : { text: 'Disabled', tone: 'warning' }
}

function formatSchedules({ schedule_items: items, enforce_schedule: isEnforced }: Streamer): string {
  const times = items.map(formatSchedule).join('; ')
  if (times === '') return isEnforced ? 'Never: the schedule is empty' : 'At any time'
  return isEnforced ? `${times}, at no other time` : times
}

const maxBroadcasts = 10

const broadcastsSchema = v.object({
  rows: v.array(
    v.object({
      username: v.string(),
      streamer_name: v.string(),
      timestamp_start: v.number(),
      timestamp_end: v.nullable(v.number())
    })
  )
})

/** The latest broadcasts of DJs, newest first. */
export class BroadcastList extends StationElement {
  readonly #broadcasts = this.poll(`streamers/broadcasts?per_page=${maxBroadcasts}`, broadcastsSchema, 60_000)

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

const pollsSchema = v.array(
  v.object({
    type: v.string(),
    url: v.string(),
    answered_at: v.nullable(v.number()),
    failing_since: v.nullable(v.number()),
    problem: v.string()
  })
)
type Poll = v.InferOutput<typeof pollsSchema>[number]

/** The streaming servers that are polled for a station, and whether they respond; empty if none is polled. */
export class PollList extends StationElement {
  readonly #polls = this.poll('polls', pollsSchema, 30_000)

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
