import { html, nothing } from 'lit'

import type { PlayReasons as PlayReasonsAnswer } from '../api/responses.ts'
import { describeReasons } from '../queue/queue-reasons.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { isolateBidi } from '../ui/text.ts'

/** Reasons of past plays do not change. */
const intervalMs = 3_600_000

/** Why a play of the history was chosen. It is read when the operator opens it. */
export class PlayReasons extends StationElement {
  static override properties = reactiveProperties<PlayReasons>('shId', 'title', 'playlists', 'isOpen')
  declare shId: number
  /** The names of the playlists by id. */
  declare playlists: ReadonlyMap<number, string>
  isOpen = false

  readonly #reasons = this.poll(() => (this.isOpen ? `history/${this.shId}/reasons` : null), intervalMs)

  protected override render() {
    const { value } = this.#reasons
    return html`<details class="reasons" @toggle=${(event: Event) => this.#onToggle(event)}>
      <summary>Why<span class="visually-hidden"> did ${this.title} play</span></summary>
      ${this.isOpen ? loadStateView(this.#reasons) : nothing}
      <ul>
        ${value === null ? nothing : this.#describe(value).map(reason => html`<li>${reason}</li>`)}
      </ul>
    </details>`
  }

  #onToggle({ currentTarget: details }: Event): void {
    this.isOpen = details instanceof HTMLDetailsElement && details.open
  }

  #describe({ streamer, is_request: isRequest, is_known: isKnown, log }: PlayReasonsAnswer): string[] {
    const reasons = describeReasons(log, {
      findName: id => this.playlists.get(id) ?? null,
      formatTime: this.clock.formatTime
    })
    if (reasons.length > 0) return reasons
    if (streamer !== '') return [`It was played by ${isolateBidi(streamer)} in a live show.`]
    if (isRequest) return ['A listener requested it.']
    return [
      isKnown
        ? 'No reasons were recorded.'
        : 'It was not in the queue of the AutoDJ, or was played more than 30 days ago.'
    ]
  }
}
