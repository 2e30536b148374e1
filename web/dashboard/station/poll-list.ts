import { html, nothing } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { chipView } from '../ui/chip-view.ts'
import { LightElement } from '../ui/light-element.ts'
import { agoText, durationText } from '../ui/text.ts'

const everyMs = 30_000

const polls = v.array(
  v.object({
    remote_id: v.nullable(v.number()),
    type: v.string(),
    url: v.string(),
    answered_at: v.nullable(v.number()),
    failing_since: v.nullable(v.number()),
    problem: v.string()
  })
)
type Poll = v.InferOutput<typeof polls>[number]

/** How asking the streaming servers of a station goes; nothing where none is asked. */
export class PollList extends LightElement {
  static override properties = { station: { attribute: false } }
  declare station: string

  readonly #polls = readFor(this, {
    schema: polls,
    path: () => `api/station/${encodeURIComponent(this.station)}/polls`,
    everyMs
  })

  protected override render() {
    const { value } = this.#polls
    if (value === null || value.length === 0) return nothing
    return html`<section class="panel" aria-labelledby="polls">
      <h2 class="heading" id="polls">Streaming servers</h2>
      <ul>
        ${value.map(
          poll =>
            html`<li class="line">
              ${chipView(chipOf(poll))}
              <span class="row-title">${poll.url}</span>
              <span class="quiet">${poll.type}${poll.problem === '' ? '' : `: ${poll.problem}`}</span>
            </li>`
        )}
      </ul>
    </section>`
  }
}

function chipOf({ answered_at: answered, failing_since: failing }: Poll) {
  if (failing !== null)
    return { text: `Silent for ${durationText(Date.now() / 1_000 - failing)}`, mood: 'bad' } as const
  if (answered === null) return { text: 'Not asked yet', mood: 'quiet' } as const
  return { text: `Answered ${agoText(answered)}`, mood: 'good' } as const
}
