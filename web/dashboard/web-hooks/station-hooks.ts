import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { readFor } from '../api/poll-resource.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { hookChanged } from './hook-card.ts'
import { hooks } from './hook.ts'

const everyMs = 5_000

/** The web hooks of a station. */
export class StationHooks extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    mayTell: { attribute: false },
    occasion: { attribute: false }
  }
  declare station: string
  declare zone: string
  declare mayTell: boolean
  /** Another one: hooks may have been told something. */
  declare occasion: string

  readonly #hooks = readFor(this, {
    schema: hooks,
    path: () => `api/station/${encodeURIComponent(this.station)}/webhooks`,
    everyMs,
    occasion: () => this.occasion
  })

  constructor() {
    super()
    this.addEventListener(hookChanged, () => void this.#hooks.again())
  }

  protected override render() {
    const { value } = this.#hooks
    return html`<h2 class="only-heard">Web hooks</h2>
      ${errorView(this.#hooks)}
      ${value?.length === 0 ? html`<p class="quiet">This station has no web hooks.</p>` : nothing}
      <ul class="stack">
        ${repeat(
          value ?? [],
          ({ id }) => id,
          hook =>
            html`<li>
              <hook-card
                .station=${this.station}
                .zone=${this.zone}
                .hook=${hook}
                .mayTell=${this.mayTell}
              ></hook-card>
            </li>`
        )}
      </ul>`
  }
}
